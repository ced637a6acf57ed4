import type { Case, Repeat } from '../runner/suite.js';
import { UsageError } from '../runner/usage-error.js';

/** A row's size in the gate: ten pairs of processes end within minutes, and a sample lasts long enough. */
export interface GateRow {
  /** Times `--scale`. */
  readonly scale: number;
  /** In place of the suite's own. */
  readonly repeat?: Partial<Repeat>;
}

const asInSuite: GateRow = { scale: 1 };

/**
 * The rows that run without `--only`. Samples last half a second or more, except those of rows that no scale
 * makes longer, which are repeated more often.
 */
const rowsBySuite: Readonly<Record<string, Readonly<Record<string, GateRow>>>> = {
  core: {
    counting: asInSuite,
    pingpong: asInSuite,
    ring: asInSuite,
    forkjoin: asInSuite,
    create: asInSuite,
    ask: asInSuite,
    askConcurrent: asInSuite,
    memory: asInSuite,
    asyncHandler: asInSuite,
  },
  jobs: {
    // Warm-up and sample are as many jobs together as lie between two snapshots of a leader.
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
    outstanding2000: asInSuite,
    payload64MiB: { scale: 1, repeat: { iterations: 20 } },
    replay: { scale: 4 },
    openWithSnapshot: { scale: 0.5 },
  },
  transport: {
    'one-way': { scale: 1.5 },
    'ping-pong': asInSuite,
    'in-flight-1000': { scale: 1.2 },
    'body-64mb': { scale: 1, repeat: { warmups: 5, iterations: 25 } },
  },
};

function rowsOf(suite: string): Readonly<Record<string, GateRow>> {
  const rows = Object.hasOwn(rowsBySuite, suite) ? rowsBySuite[suite] : undefined;
  if (rows !== undefined) return rows;
  const names = Object.keys(rowsBySuite).join(', ');
  throw new UsageError(`gate has no suite '${suite}': there are ${names}`);
}

export function defaultRows(suite: string): readonly string[] {
  return Object.keys(rowsOf(suite));
}

/** A case as the gate runs it, and its scale. Rows that are not run by default keep the suite's size. */
export function gateCase(suite: string, benchmark: Case): { benchmark: Case; scale: number } {
  const { scale, repeat } = rowsOf(suite)[benchmark.benchmark] ?? asInSuite;
  return { benchmark: { ...benchmark, repeat: { ...benchmark.repeat, ...repeat } }, scale };
}
