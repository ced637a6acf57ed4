import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case, Measurement, Suite, Trial } from '../runner/suite.js';
import {
  DURABILITY,
  type JobSystem,
  missingPeer,
  openSystem,
  PEERS,
  type Shape,
} from './jobs-peers-system.js';

const EVERYBODY = ['troupe', ...PEERS];
/** Samples of one process still rise over the first ones: the engine compiles, and the log gets its size (ADR 0135). */
const repeat = { warmups: 3, iterations: 3, budgetMs: 20_000 };
/**
 * As many 100-byte jobs as lie between two snapshots of a leader: whatever the size of the payloads, a sample of so many has the price of
 * at least one in it, and so is what the leader can go on with (ADR 0137).
 */
const SUSTAINED_JOBS = 2_000_000;
const timeoutMs = 300_000;

function repeatOf(jobs: number): typeof repeat {
  return jobs === SUSTAINED_JOBS ? { ...repeat, budgetMs: 60_000 } : repeat;
}

interface Load extends Shape {
  readonly jobs: number;
  readonly bytes: number;
  /** A client submits so many at once and waits for all of them; then it is the turn of the next client. One at a time unless given. */
  readonly burst?: number;
}

/** Keeps `outstanding` of them going; times each from submit to result. */
async function drive(run: JobSystem['run'], load: Load): Promise<Measurement> {
  const { jobs, burst = 1 } = load;
  // JSON puts two quotes around it.
  const payload = 'x'.repeat(load.bytes - 2);
  const latencies = new Float64Array(jobs);
  const startedAt = performance.now();
  let next = 0;
  let completed = 0;
  let bursts = 0;
  const ended = (i: number, at: number): void => {
    latencies[i] = performance.now() - at;
    completed += 1;
  };
  // One promise a job, so that the figure is of the system and not of this loop.
  const steadily = async (_: unknown, no: number): Promise<void> => {
    while (next < jobs) {
      const i = next;
      next += 1;
      const at = performance.now();
      await run(payload, no);
      ended(i, at);
    }
  };
  const inBursts = async (): Promise<void> => {
    while (next < jobs) {
      const first = next;
      next = Math.min(jobs, first + burst);
      const caller = bursts;
      bursts += 1;
      const at = performance.now();
      const count = next - first;
      await Promise.all(
        Array.from({ length: count }, (__, i) => run(payload, caller).then(() => ended(first + i, at))),
      );
    }
  };
  const lanes = Math.ceil(Math.min(load.outstanding, jobs) / burst);
  await Promise.all(Array.from({ length: lanes }, burst === 1 ? steadily : inBursts));
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort();
  const at = (share: number): number => latencies[Math.floor((load.jobs - 1) * share)] ?? 0;
  return { attempted: load.jobs, completed, seconds, p50: at(0.5), p99: at(0.99), max: at(1) };
}

async function trial(system: string, load: Load): Promise<Trial> {
  const opened = await openSystem(system, load);
  return {
    run: () => drive((payload, caller) => opened.run(payload, caller), load),
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
    group: 'durable submit → assign → no-op → durable ack → result at the client',
    note: `${outstanding} outstanding, ${bytes}-byte payloads${beside.length === 0 ? '' : ` (${beside.join()}: troupe with those of end-to-end)`}, one client and one worker process; ${DURABILITY}`,
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
  note: `one job at a time, submit → result, after up to 5,000 of them to warm up; ${DURABILITY}`,
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
  note: `payloads of 10 MB, 4 outstanding, MB of payload a second; troupe sends them from a file and has them parsed by the worker; ${DURABILITY}`,
  systems: ['troupe', 'bullmq', 'rabbitmq'],
  repeat,
  timeoutMs,
  async prepare({ system, scale }) {
    const load = { jobs: scaled(40, scale), outstanding: 4, bytes: TEN_MB };
    const opened = await openSystem(system, load);
    const { runFile } = opened;
    const folder = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
    const file = join(folder, 'payload.json');
    await writeFile(file, JSON.stringify('x'.repeat(TEN_MB - 2)));
    return {
      async run() {
        const measured = await drive(
          (payload, caller) => (runFile === undefined ? opened.run(payload, caller) : runFile(file)),
          load,
        );
        const mb = (jobs: number): number => (jobs * TEN_MB) / 1_000_000;
        return { ...measured, attempted: mb(measured.attempted), completed: mb(measured.completed) };
      },
      close: async () => {
        await opened.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

const oneSlot: Case = {
  benchmark: 'one-slot',
  unit: 'jobs',
  note: 'one worker that runs one handler at a time, 4000 outstanding, 100-byte payloads; fsync before every acknowledgement',
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
    note: `a thousand clients and a thousand workers with 16 slots each, 16,000 jobs outstanding in all, ${how}; against one of each with the same load (pair); all clients in one process, all workers in another; 100-byte payloads; fsync before every acknowledgement`,
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
