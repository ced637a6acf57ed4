import type { Case, Suite, Trial } from '../runner/suite.js';
import { DURABILITY, missingPeer, openSystem, PEERS, type Topology } from './jobs/job-system.js';
import { PayloadFiles } from './jobs/payload-files.js';
import { PayloadSource } from './jobs/payload-source.js';
import { type Load, runLoad } from './jobs/run-load.js';
import { TRACED, type Traced } from './jobs/traced-jobs.js';

const ALL_SYSTEMS = ['troupe', ...PEERS];
/** The first samples of a process are slower: the engine compiles, and the log allocates its segments. */
const repeat = { warmups: 3, iterations: 3, budgetMs: 20_000 };
/**
 * The number of 100-byte jobs between two snapshots of a leader. A sample of this size contains at least one
 * snapshot with any payload size, and so shows a sustained rate.
 */
const SUSTAINED_JOBS = 2_000_000;
const timeoutMs = 300_000;
const UNIQUE = 'every job has a unique payload and a unique result, which the client checks';

function repeatOf(jobs: number): typeof repeat {
  return jobs === SUSTAINED_JOBS ? { ...repeat, budgetMs: 60_000 } : repeat;
}

async function trial(system: string, load: Load): Promise<Trial> {
  const opened = await openSystem(system, load);
  const payloads = new PayloadSource(load.bytes);
  return {
    run: () =>
      runLoad(
        (payload, caller) => opened.run(payload, caller),
        () => payloads.next(),
        load,
      ),
    close: () => opened.close(),
  };
}

function scaled(jobs: number, scale: number): number {
  return Math.max(10, Math.round(jobs * scale));
}

/** Troupe with the payloads of `end-to-end` in the same run, which shows the cost of a kilobyte. */
const HUNDRED_BYTES = '100-byte';

function endToEnd(
  benchmark: string,
  { troupe, peers }: { readonly troupe: number; readonly peers: number },
  { outstanding, bytes, others = [] }: Topology & { bytes: number; others?: readonly string[] },
): Case {
  return {
    benchmark,
    unit: 'jobs',
    group: 'durable submit → assign → run → durable ack → result at the client',
    note: `${outstanding} outstanding, ${bytes}-byte payloads${others.length === 0 ? '' : ` (${others.join()}: troupe with the payloads of end-to-end)`}, one client and one worker process; ${UNIQUE}; ${DURABILITY}`,
    systems: [...ALL_SYSTEMS, ...others],
    repeat: repeatOf(troupe),
    timeoutMs,
    prepare: ({ system, scale }) =>
      trial(system, {
        jobs: scaled(PEERS.includes(system) ? peers : troupe, scale),
        outstanding,
        bytes: system === HUNDRED_BYTES ? 100 : bytes,
      }),
  };
}

/** During the first thousands of jobs the tail latency is compilation, in all systems on this engine. */
const LATENCY_REPEAT = { warmups: 5, iterations: 5, budgetMs: 20_000 };

const latency: Case = {
  benchmark: 'latency',
  unit: 'jobs',
  headline: 'p50',
  note: `one job at a time, submit → result, after a warm-up of up to 5,000 jobs; 100-byte payloads; ${UNIQUE}; ${DURABILITY}`,
  systems: ALL_SYSTEMS,
  repeat: LATENCY_REPEAT,
  timeoutMs,
  prepare: ({ system, scale }) => trial(system, { jobs: scaled(1_000, scale), outstanding: 1, bytes: 100 }),
};

const TRACES =
  'context: every job has a trace context, without a tracer; spans: client, leader and worker make spans by the OpenTelemetry SDK, without export; compared with jobs without traces';

const traced: Case = {
  benchmark: 'traced',
  unit: 'jobs',
  note: `as end-to-end, with traces; ${TRACES}`,
  systems: ['troupe', ...TRACED],
  repeat,
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, { jobs: scaled(200_000, scale), outstanding: 4_000, bytes: 100, traced: tracedOf(system) }),
};

const tracedLatency: Case = {
  benchmark: 'traced-latency',
  unit: 'jobs',
  headline: 'p50',
  note: `as latency, with traces; ${TRACES}`,
  systems: ['troupe', ...TRACED],
  repeat: LATENCY_REPEAT,
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, { jobs: scaled(1_000, scale), outstanding: 1, bytes: 100, traced: tracedOf(system) }),
};

function tracedOf(system: string): Traced | undefined {
  return TRACED.find((one) => one === system);
}

const PAGES = '50-pages';

const watched: Case = {
  benchmark: 'watched',
  unit: 'jobs',
  note: `4,000 outstanding, 100-byte payloads; 50-pages: a gateway and 50 open pages beside the leader, in one further process; ${UNIQUE}`,
  systems: ['troupe', PAGES],
  repeat,
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, {
      jobs: scaled(200_000, scale),
      outstanding: 4_000,
      bytes: 100,
      pages: system === PAGES ? 50 : 0,
    }),
};

const TEN_MB = 10_000_000;
const large: Case = {
  benchmark: 'payload-10m',
  unit: 'MB',
  note: `payloads of 10 MB, 4 outstanding, MB of payload per second; troupe streams them from four files, which get the id of each job before its submit, peers send a string; the worker parses them; ${UNIQUE}; ${DURABILITY}`,
  systems: ['troupe', 'bullmq', 'rabbitmq'],
  repeat,
  timeoutMs,
  async prepare({ system, scale }) {
    const load = { jobs: scaled(40, scale), outstanding: 4, bytes: TEN_MB };
    const opened = await openSystem(system, load);
    const payloads = new PayloadSource(TEN_MB);
    const { runFile } = opened;
    const files = runFile === undefined ? undefined : await PayloadFiles.open(load.outstanding, payloads);
    const run: typeof opened.run =
      runFile === undefined || files === undefined
        ? (payload, caller) => opened.run(payload, caller)
        : (_, caller) => runFile(files.pathOf(caller));
    return {
      async run() {
        const measured = await runLoad(run, (caller) => files?.next(caller) ?? payloads.next(), load);
        const mb = (jobs: number): number => (jobs * TEN_MB) / 1_000_000;
        return { ...measured, attempted: mb(measured.attempted), completed: mb(measured.completed) };
      },
      close: async () => {
        await opened.close();
        await files?.close();
      },
    };
  },
};

const oneSlot: Case = {
  benchmark: 'one-slot',
  unit: 'jobs',
  note: `one worker with one handler slot, 4000 outstanding, 100-byte payloads; ${UNIQUE}; fsync before every acknowledgement`,
  systems: ['troupe'],
  repeat,
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, { jobs: scaled(100_000, scale), outstanding: 4_000, bytes: 100, slots: 1 }),
};

/** Troupe with `--log-format jsonl`. */
const LINES = 'lines';
const logOfLines: Case = {
  benchmark: 'log-of-lines',
  unit: 'jobs',
  note: `the price of a log that can be read with grep (lines: --log-format jsonl), 4000 outstanding, 100-byte payloads; ${UNIQUE}; fsync before every acknowledgement`,
  systems: ['troupe', LINES],
  repeat,
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, {
      jobs: scaled(200_000, scale),
      outstanding: 4_000,
      bytes: 100,
      codec: system === LINES ? 'jsonl' : 'binary',
    }),
};

/** A thousand clients and workers, compared with one of each under the same load. */
function fleet(
  benchmark: string,
  { burst, pattern }: { readonly burst: number; readonly pattern: string },
): Case {
  return {
    benchmark,
    unit: 'jobs',
    note: `a thousand clients and a thousand workers with 16 slots each, 16,000 jobs outstanding in all, ${pattern}; compared with one of each under the same load (pair); all clients in one process, all workers in another; 100-byte payloads; ${UNIQUE}; fsync before every acknowledgement`,
    systems: ['troupe', 'pair'],
    repeat: repeatOf(SUSTAINED_JOBS),
    timeoutMs,
    prepare({ system, scale }) {
      const connectionsMax = Math.max(2, Math.round(1_000 * Math.min(1, scale)));
      const connections = system === 'pair' ? 1 : connectionsMax;
      return trial(system, {
        jobs: scaled(SUSTAINED_JOBS, scale),
        outstanding: 16 * connectionsMax,
        bytes: 100,
        burst,
        workers: connections,
        clients: connections,
      });
    },
  };
}

export const suite: Suite = {
  name: 'jobs',
  title: 'jobs over TCP, end to end, beside BullMQ, RabbitMQ, NATS JetStream and pg-boss on real servers',
  systems: [...ALL_SYSTEMS, 'pair', HUNDRED_BYTES, LINES, PAGES, ...TRACED],
  missingIsSkipped: true,
  cases: [
    // Peers are one or two orders of magnitude slower, and their rates do not change with time.
    endToEnd('end-to-end', { troupe: SUSTAINED_JOBS, peers: 20_000 }, { outstanding: 4_000, bytes: 100 }),
    endToEnd('end-to-end-200', { troupe: 100_000, peers: 10_000 }, { outstanding: 200, bytes: 100 }),
    latency,
    endToEnd(
      'payload-1k',
      { troupe: SUSTAINED_JOBS, peers: 20_000 },
      { outstanding: 4_000, bytes: 1_000, others: [HUNDRED_BYTES] },
    ),
    large,
    oneSlot,
    logOfLines,
    traced,
    tracedLatency,
    watched,
    fleet('fleet', { burst: 64, pattern: 'submitted 64 at a time by clients in turn' }),
    fleet('fleet-16', { burst: 1, pattern: '16 by each client at all times' }),
  ],
  missing: missingPeer,
};
