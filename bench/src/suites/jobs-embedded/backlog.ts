import type { Case } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { Payloads } from '../jobs/payload.js';
import { cpuMicros, fill, openRig, PAYLOAD_BYTES, windowed } from './embedded-setup.js';

const WINDOW = 1_000;

/** The same work while so many other jobs wait: the rate should not depend on it. */
export function runUnderBacklog(backlog: number): Case {
  return {
    benchmark: `backlog-${backlog}`,
    unit: 'jobs',
    group: 'cost under a backlog',
    note: 'run-1000 while so many jobs of another kind wait; what filling them in left behind is collected before the clock starts',
    systems: ['troupe'],
    repeat: { warmups: 2, iterations: 5, budgetMs: 15_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const rig = await openRig(WINDOW);
      const payloads = new Payloads(PAYLOAD_BYTES);
      await fill(rig.client, Math.max(1, Math.round(backlog * scale)), payloads);
      // The row is about jobs that wait, not about having submitted them a moment ago.
      globalThis.gc?.();
      const jobs = Math.max(WINDOW, Math.round(50_000 * scale));
      return {
        async run() {
          const started = performance.now();
          const cpuBefore = cpuMicros();
          const completed = await windowed(jobs, WINDOW, payloads, (payload) =>
            rig.client.run(digest, payload),
          );
          const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
          return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
        },
        close: () => rig.close(),
      };
    },
  };
}
