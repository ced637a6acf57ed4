import type { Case, Suite, Trial } from '../runner/suite.js';
import { DURABILITY, missingPeer, openSystem, PEERS, type Shape } from './jobs/job-system.js';
import { Payloads } from './jobs/payload.js';
import { PayloadFiles } from './jobs/payload-files.js';
import { drive, type Load } from './jobs/run-load.js';

const EVERYBODY = ['troupe', ...PEERS];
/** Samples of one process still rise over the first ones: the engine compiles, and the log gets its size (ADR 0135). */
const repeat = { warmups: 3, iterations: 3, budgetMs: 20_000 };
/**
 * As many 100-byte jobs as lie between two snapshots of a leader: whatever the size of the payloads, a sample of so many has the price of
 * at least one in it, and so is what the leader can go on with (ADR 0137).
 */
const SUSTAINED_JOBS = 2_000_000;
const timeoutMs = 300_000;
const CHECKED = 'every job has its own payload, and its own result, which the client checks';

function repeatOf(jobs: number): typeof repeat {
  return jobs === SUSTAINED_JOBS ? { ...repeat, budgetMs: 60_000 } : repeat;
}

async function trial(system: string, load: Load): Promise<Trial> {
  const opened = await openSystem(system, load);
  const payloads = new Payloads(load.bytes);
  return {
    run: () =>
      drive(
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

/** The same with the payloads of `end-to-end`, in the same run: what a kilobyte costs. */
const HUNDRED_BYTES = '100-byte';

function endToEnd(
  benchmark: string,
  { own, peers }: { readonly own: number; readonly peers: number },
  { outstanding, bytes, beside = [] }: Shape & { bytes: number; beside?: readonly string[] },
): Case {
  return {
    benchmark,
    unit: 'jobs',
    group: 'durable submit → assign → run → durable ack → result at the client',
    note: `${outstanding} outstanding, ${bytes}-byte payloads${beside.length === 0 ? '' : ` (${beside.join()}: troupe with those of end-to-end)`}, one client and one worker process; ${CHECKED}; ${DURABILITY}`,
    systems: [...EVERYBODY, ...beside],
    repeat: repeatOf(own),
    timeoutMs,
    prepare: ({ system, scale }) =>
      trial(system, {
        jobs: scaled(PEERS.includes(system) ? peers : own, scale),
        outstanding,
        bytes: system === HUNDRED_BYTES ? 100 : bytes,
      }),
  };
}

const latency: Case = {
  benchmark: 'latency',
  unit: 'jobs',
  headline: 'p50',
  note: `one job at a time, submit → result, after up to 5,000 of them to warm up; 100-byte payloads; ${CHECKED}; ${DURABILITY}`,
  systems: EVERYBODY,
  // During the first few thousand jobs a tail is the engine compiling, of every system that runs on it (ADR 0117).
  repeat: { warmups: 5, iterations: 5, budgetMs: 20_000 },
  timeoutMs,
  prepare: ({ system, scale }) => trial(system, { jobs: scaled(1_000, scale), outstanding: 1, bytes: 100 }),
};

const TEN_MB = 10_000_000;
const large: Case = {
  benchmark: 'payload-10m',
  unit: 'MB',
  note: `payloads of 10 MB, 4 outstanding, MB of payload a second; troupe sends them from a file (four of them, each given the id of the job before it is sent), peers from a string; the worker parses them; ${CHECKED}; ${DURABILITY}`,
  systems: ['troupe', 'bullmq', 'rabbitmq'],
  repeat,
  timeoutMs,
  async prepare({ system, scale }) {
    const load = { jobs: scaled(40, scale), outstanding: 4, bytes: TEN_MB };
    const opened = await openSystem(system, load);
    const payloads = new Payloads(TEN_MB);
    const { runFile } = opened;
    const files = runFile === undefined ? undefined : await PayloadFiles.open(load.outstanding, payloads);
    const run: typeof opened.run =
      runFile === undefined || files === undefined
        ? (payload, caller) => opened.run(payload, caller)
        : (_, caller) => runFile(files.pathOf(caller));
    return {
      async run() {
        const measured = await drive(run, (caller) => files?.next(caller) ?? payloads.next(), load);
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
  note: `one worker that runs one handler at a time, 4000 outstanding, 100-byte payloads; ${CHECKED}; fsync before every acknowledgement`,
  systems: ['troupe'],
  repeat,
  timeoutMs,
  prepare: ({ system, scale }) =>
    trial(system, { jobs: scaled(100_000, scale), outstanding: 4_000, bytes: 100, slots: 1 }),
};

/** A thousand of each, against one of each with the same load (ADR 0142). */
function fleet(benchmark: string, { burst, how }: { readonly burst: number; readonly how: string }): Case {
  return {
    benchmark,
    unit: 'jobs',
    note: `a thousand clients and a thousand workers with 16 slots each, 16,000 jobs outstanding in all, ${how}; against one of each with the same load (pair); all clients in one process, all workers in another; 100-byte payloads; ${CHECKED}; fsync before every acknowledgement`,
    systems: ['troupe', 'pair'],
    repeat: repeatOf(SUSTAINED_JOBS),
    timeoutMs,
    prepare({ system, scale }) {
      const many = Math.max(2, Math.round(1_000 * Math.min(1, scale)));
      const connected = system === 'pair' ? 1 : many;
      return trial(system, {
        jobs: scaled(SUSTAINED_JOBS, scale),
        outstanding: 16 * many,
        bytes: 100,
        burst,
        workers: connected,
        clients: connected,
      });
    },
  };
}

export const suite: Suite = {
  name: 'jobs',
  title: 'jobs over TCP, end to end, beside BullMQ, RabbitMQ, NATS JetStream and pg-boss on real servers',
  systems: [...EVERYBODY, 'pair', HUNDRED_BYTES],
  missingIsSkipped: true,
  cases: [
    // The peers are one or two orders of magnitude slower, and what they do does not change with time.
    endToEnd('end-to-end', { own: SUSTAINED_JOBS, peers: 20_000 }, { outstanding: 4_000, bytes: 100 }),
    endToEnd('end-to-end-200', { own: 100_000, peers: 10_000 }, { outstanding: 200, bytes: 100 }),
    latency,
    endToEnd(
      'payload-1k',
      { own: SUSTAINED_JOBS, peers: 20_000 },
      { outstanding: 4_000, bytes: 1_000, beside: [HUNDRED_BYTES] },
    ),
    large,
    oneSlot,
    fleet('fleet', { burst: 64, how: 'submitted 64 at a time by clients in turn' }),
    fleet('fleet-16', { burst: 1, how: '16 by each client at all times' }),
  ],
  missing: missingPeer,
};
