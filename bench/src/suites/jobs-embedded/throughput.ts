import type { Case, Trial } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { cpuMicros, openEmbedded, PAYLOAD_BYTES, runWindow } from './embedded-setup.js';
import { logLoop } from './log-without-jobs.js';

const repeat = { warmups: 1, iterations: 3, budgetMs: 10_000 };

/**
 * Durable submit → run → durable ack with `window` jobs outstanding. The floor is the same loop written by
 * hand on the log; `log` only appends records of the same size.
 */
export function runLoop(count: number, window: number): Case {
  return {
    benchmark: `run-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every reply; 100-byte payloads, unique per job, with unique results that the client checks; floor: the same loop by hand on @troupe/wal with the same window: payload as JSON in a record of 129 bytes and one of 33, durable, parsed, run, result as JSON in about 47 bytes, durable, parsed, checked; log: the same records as constant bytes, without encoding, parsing or running',
    systems: ['troupe', 'floor', 'log'],
    repeat,
    prepare: ({ system, scale }) => {
      const jobs = Math.max(window, Math.round(count * scale));
      return system === 'floor' || system === 'log'
        ? logLoop(system, jobs, window)
        : jobLoop(jobs, window, true);
    },
  };
}

/** Durable submits without a worker: the jobs stay queued. */
export function submitLoop(count: number, window: number): Case {
  return {
    benchmark: `submit-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every receipt; every job has a unique payload of 100 bytes',
    systems: ['troupe'],
    repeat,
    prepare: ({ scale }) => jobLoop(Math.max(window, Math.round(count * scale)), window, false),
  };
}

async function jobLoop(jobs: number, window: number, runs: boolean): Promise<Trial> {
  const setup = await openEmbedded(runs ? window : 0);
  const payloads = new PayloadSource(PAYLOAD_BYTES);
  return {
    async run() {
      const started = performance.now();
      const cpuBefore = cpuMicros();
      const completed = runs
        ? await runWindow(jobs, window, payloads, (payload) => setup.client.run(digest, payload))
        : await runWindow(
            jobs,
            window,
            payloads,
            (payload) => setup.client.submit(digest, payload),
            () => true,
          );
      const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
    },
    close: () => setup.close(),
  };
}
