import type { Case, Repeat } from '../runner/suite.js';
import { UsageError } from '../runner/usage-error.js';

/** The size of a row in the gate: ten pairs of processes take minutes, and samples are long enough. */
interface RowSize {
  /** Multiplied by `--scale`. */
  readonly scale: number;
  /** Overrides the repetitions of the suite. */
  readonly repeat?: Partial<Repeat>;
}

const sizeOfSuite: RowSize = { scale: 1 };

/**
 * The rows without `--only`. Samples last half a second or more, except in rows of a fixed size, which are
 * repeated more often.
 */
const rowsBySuite: Readonly<Record<string, Readonly<Record<string, RowSize>>>> = {
  core: {
    counting: sizeOfSuite,
    pingpong: sizeOfSuite,
    ring: sizeOfSuite,
    forkjoin: sizeOfSuite,
    create: sizeOfSuite,
    ask: sizeOfSuite,
    askConcurrent: sizeOfSuite,
    memory: sizeOfSuite,
    asyncHandler: sizeOfSuite,
  },
  jobs: {
    // Warm-up and sample together are as many jobs as lie between two snapshots of a leader.
    'end-to-end': { scale: 0.5, repeat: { warmups: 1, iterations: 1 } },
    'end-to-end-200': { scale: 1, repeat: { warmups: 2, iterations: 3 } },
    latency: { scale: 1, repeat: { warmups: 4, iterations: 4 } },
    'payload-1k': { scale: 0.25, repeat: { warmups: 1, iterations: 1 } },
    'one-slot': { scale: 1, repeat: { warmups: 3, iterations: 3 } },
  },
  wal: {
    appendLatency: { scale: 4 },
    append10: { scale: 2 },
    append100: { scale: 2 },
    append1000: { scale: 4 },
    outstanding2000: sizeOfSuite,
    payload64MiB: { scale: 1, repeat: { iterations: 20 } },
    replay: { scale: 4 },
    openWithSnapshot: { scale: 0.5 },
  },
  transport: {
    'one-way': { scale: 1.5 },
    'ping-pong': sizeOfSuite,
    'in-flight-1000': { scale: 1.2 },
    'body-64mb': { scale: 1, repeat: { warmups: 5, iterations: 25 } },
  },
};

function rowsOf(suite: string): Readonly<Record<string, RowSize>> {
  const rows = Object.hasOwn(rowsBySuite, suite) ? rowsBySuite[suite] : undefined;
  if (rows !== undefined) return rows;
  const names = Object.keys(rowsBySuite).join(', ');
  throw new UsageError(`gate has no suite '${suite}': there are ${names}`);
}

export function defaultRows(suite: string): readonly string[] {
  return Object.keys(rowsOf(suite));
}

/** The case and its scale in the gate. Rows outside the defaults keep the size of the suite. */
export function gateCase(suite: string, benchmark: Case): { benchmark: Case; scale: number } {
  const { scale, repeat } = rowsOf(suite)[benchmark.benchmark] ?? sizeOfSuite;
  return { benchmark: { ...benchmark, repeat: { ...benchmark.repeat, ...repeat } }, scale };
}
