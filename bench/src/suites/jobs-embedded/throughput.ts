import type { Case, Trial } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { Payloads } from '../jobs/payload.js';
import { cpuMicros, openRig, PAYLOAD_BYTES, windowed } from './embedded-setup.js';
import { bareLoop } from './log-without-jobs.js';

const repeat = { warmups: 1, iterations: 3, budgetMs: 10_000 };

/**
 * Durable submit → run → durable ack, with so many outstanding. The floor is the same loop on the bare log, written by
 * hand; `log` appends its records and no more.
 */
export function runLoop(count: number, window: number): Case {
  return {
    benchmark: `run-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every answer; 100-byte payloads, every job with its own and with its own result, which the client checks; floor: the same loop by hand on @troupe/wal: payload as JSON in a record of 129 bytes and 33 more, durable, parsed, run, result as JSON in about 47, durable, parsed, checked, same window; log: the same records of constant bytes, nothing encoded, parsed or run',
    systems: ['troupe', 'floor', 'log'],
    repeat,
    prepare: ({ system, scale }) => {
      const jobs = Math.max(window, Math.round(count * scale));
      return system === 'floor' || system === 'log'
        ? bareLoop(system, jobs, window)
        : jobLoop(jobs, window, true);
    },
  };
}

/** Durable submits only; what they submit waits. */
export function submitLoop(count: number, window: number): Case {
  return {
    benchmark: `submit-${window}`,
    unit: 'jobs',
    group: 'submit → run → ack',
    note: 'fsync before every answer; every job has its own payload of 100 bytes',
    systems: ['troupe'],
    repeat,
    prepare: ({ scale }) => jobLoop(Math.max(window, Math.round(count * scale)), window, false),
  };
}

async function jobLoop(jobs: number, window: number, runs: boolean): Promise<Trial> {
  const rig = await openRig(runs ? window : 0);
  const payloads = new Payloads(PAYLOAD_BYTES);
  return {
    async run() {
      const started = performance.now();
      const cpuBefore = cpuMicros();
      const completed = runs
        ? await windowed(jobs, window, payloads, (payload) => rig.client.run(digest, payload))
        : await windowed(
            jobs,
            window,
            payloads,
            (payload) => rig.client.submit(digest, payload),
            () => true,
          );
      const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
    },
    close: () => rig.close(),
  };
}
