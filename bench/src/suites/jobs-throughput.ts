import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL, type Log, openLog } from '@troupe/wal';
import type { Case, Trial } from '../runner/suite.js';
import { inputOf, noop, openRig, windowed } from './jobs-rig.js';

const repeat = { warmups: 1, iterations: 3, budgetMs: 10_000 };

/** Durable submit → run a no-op → durable ack, with so many outstanding. The floor appends the same three records on the bare log. */
export function runLoop(count: number, window: number): Case {
  return {
    benchmark: `run-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every answer; floor: three durable appends of 170, 40 and 140 bytes per job on @troupe/wal, same window',
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
      const completed = await windowed(jobs, window, (n) =>
        runs ? rig.client.run(noop, inputOf(n)) : rig.client.submit(noop, inputOf(n)),
      );
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000 };
    },
    close: () => rig.close(),
  };
}

async function bareLoop(jobs: number, window: number): Promise<Trial> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const log = await new Promise<Log>((resolve, reject) => {
    openLog({ dir }, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  const records = [Buffer.alloc(170, 1), Buffer.alloc(40, 2), Buffer.alloc(140, 3)];
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const step = (index: number): void => {
        const record = records[index];
        if (record === undefined) return resolve();
        const lsn = log.append(record, (error) => (error === null ? step(index + 1) : reject(error)));
        if (lsn === FULL) log.onRoom(() => step(index));
      };
      step(0);
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
