import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { embedded, handle } from '@troupe/jobs';
import type { Case } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { resultOf } from '../jobs/payload.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { PAYLOAD_BYTES, runWindow } from './embedded-setup.js';

/** The longest time for which the event loop is held while a leader drops its ended jobs. */
export function expiry(count: number): Case {
  return {
    benchmark: 'expiry',
    unit: 'jobs',
    group: 'jobs that ended',
    note: 'a leader is opened with room for one result and drops the others in bounded ticks; max is the longest delay of its event loop meanwhile',
    systems: ['troupe'],
    repeat: { warmups: 0, iterations: 1, budgetMs: 120_000 },
    timeoutMs: 600_000,
    prepare: async ({ scale }) => {
      const jobs = Math.max(1_000, Math.round(count * scale));
      const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
      const first = await embedded({ dir, limits: { resultsMax: jobs, outstandingMax: 100_000 } });
      first.worker({ slots: 1_000, handlers: [handle(digest, resultOf)] });
      const client = first.client();
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      await runWindow(jobs, 1_000, payloads, (payload) => client.run(digest, payload));
      await first.close();
      return {
        async run() {
          const app = await embedded({ dir, limits: { resultsMax: 1 } });
          const observer = app.client();
          const delay = monitorEventLoopDelay({ resolution: 1 });
          delay.enable();
          const started = performance.now();
          let left = jobs;
          while (left > 1) left = (await observer.overview()).tables.results.used;
          delay.disable();
          const seconds = (performance.now() - started) / 1_000;
          await app.close();
          const [p99, max] = [delay.percentile(99) / 1e6, delay.max / 1e6];
          return { attempted: jobs, completed: jobs - left + 1, seconds, p99, max };
        },
        close: () => rm(dir, { recursive: true, force: true }),
      };
    },
  };
}
