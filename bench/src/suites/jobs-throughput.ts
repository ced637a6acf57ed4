import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL, type Log, openLog } from '@troupe/wal';
import type { Case, Trial } from '../runner/suite.js';
import { cpuMicros, inputOf, noop, openRig, windowed } from './jobs-rig.js';

const repeat = { warmups: 1, iterations: 3, budgetMs: 10_000 };

/** What the three records of such a job take in the log, each: enqueue, assign, ack. */
const RECORD_BYTES = [125, 33, 109];

/**
 * Durable submit → run a no-op → durable ack, with so many outstanding. The floor appends the same three records, of the same
 * size, on the bare log, and waits for the disk as often: for the first two together, then for the third.
 */
export function runLoop(count: number, window: number): Case {
  return {
    benchmark: `run-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every answer; floor: the same records on @troupe/wal, 125 and 33 bytes appended together, then 109, same window; nothing is encoded, decided or run',
    systems: ['troupe', 'floor'],
    repeat,
    prepare: ({ system, scale }) => {
      const jobs = Math.max(window, Math.round(count * scale));
      return system === 'floor' ? bareLoop(jobs, window) : jobLoop(jobs, window, true);
    },
  };
}

/** Durable submits only; what they submit waits. */
export function submitLoop(count: number, window: number): Case {
  return {
    benchmark: `submit-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every answer',
    systems: ['troupe'],
    repeat,
    prepare: ({ scale }) => jobLoop(Math.max(window, Math.round(count * scale)), window, false),
  };
}

async function jobLoop(jobs: number, window: number, runs: boolean): Promise<Trial> {
  const rig = await openRig(runs ? window : 0);
  return {
    async run() {
      const started = performance.now();
      const cpuBefore = cpuMicros();
      const completed = await windowed(jobs, window, (n) =>
        runs ? rig.client.run(noop, inputOf(n)) : rig.client.submit(noop, inputOf(n)),
      );
      const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
    },
    close: () => rig.close(),
  };
}

async function bareLoop(jobs: number, window: number): Promise<Trial> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const log = await new Promise<Log>((resolve, reject) => {
    openLog({ dir }, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  const [enqueue, assign, ack] = RECORD_BYTES.map((bytes, i) => Buffer.alloc(bytes, i + 1)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const put = (record: Buffer, durable?: (error: Error | null) => void): void => {
    if (log.append(record, durable) === FULL) log.onRoom(() => put(record, durable));
  };
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => (error === null ? resolve() : reject(error));
      put(enqueue);
      put(assign, (error) => (error === null ? put(ack, settle) : reject(error)));
    });
  return {
    async run() {
      const started = performance.now();
      const completed = await windowed(jobs, window, one);
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000 };
    },
    close: async () => {
      await new Promise<void>((resolve) => log.close(() => resolve()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}
