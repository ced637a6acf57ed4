import type { Case } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { cpuMicros, openEmbedded, PAYLOAD_BYTES, runWindow, submitWaiting } from './embedded-setup.js';

const WINDOW = 1_000;

/** The same work with a backlog of other jobs, on which the rate should not depend. */
export function runUnderBacklog(backlog: number): Case {
  return {
    benchmark: `backlog-${backlog}`,
    unit: 'jobs',
    group: 'cost under a backlog',
    note: 'run-1000 with a backlog of jobs of another definition; garbage of their submits is collected before the clock starts',
    systems: ['troupe'],
    repeat: { warmups: 2, iterations: 5, budgetMs: 15_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const setup = await openEmbedded(WINDOW);
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      await submitWaiting(setup.client, Math.max(1, Math.round(backlog * scale)), payloads);
      // The row measures queued jobs, not the garbage of their submits.
      globalThis.gc?.();
      const jobs = Math.max(WINDOW, Math.round(50_000 * scale));
      return {
        async run() {
          const started = performance.now();
          const cpuBefore = cpuMicros();
          const completed = await runWindow(jobs, WINDOW, payloads, (payload) =>
            setup.client.run(digest, payload),
          );
          const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
          return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
        },
        close: () => setup.close(),
      };
    },
  };
}
