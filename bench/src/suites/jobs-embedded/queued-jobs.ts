import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case } from '../../runner/suite.js';
import { waiting } from '../jobs/job-definitions.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { openEmbedded, PAYLOAD_BYTES, submitWaiting } from './embedded-setup.js';

/** Heap per queued job with its payload. */
export function queuedMemory(count: number): Case {
  return {
    benchmark: 'queued-memory',
    unit: 'jobs',
    group: 'jobs that wait',
    headline: 'heapBytes',
    note: `heap per queued job, with its unique payload of ${PAYLOAD_BYTES} bytes`,
    systems: ['troupe'],
    repeat: { warmups: 0, iterations: 1, budgetMs: 60_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const jobs = Math.max(1_000, Math.round(count * scale));
      const setup = await openEmbedded(0);
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      return {
        async run() {
          const before = heapBytesUsed();
          const started = performance.now();
          await submitWaiting(setup.client, jobs, payloads);
          const seconds = (performance.now() - started) / 1_000;
          const heapBytes = (heapBytesUsed() - before) / jobs;
          const { counts } = await setup.client.overview();
          return { attempted: jobs, completed: counts.queued, seconds, heapBytes };
        },
        close: () => setup.close(),
      };
    },
  };
}

/** Time from opening a folder with queued jobs to the first receipt. */
export function restart(count: number): Case {
  return {
    benchmark: 'restart',
    unit: 'jobs',
    group: 'jobs that wait',
    note: 'open the folder, replay, receipt of the first durable submit; the rate is queued jobs per second of that time',
    systems: ['troupe'],
    repeat: { warmups: 0, iterations: 3, budgetMs: 60_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const jobs = Math.max(1_000, Math.round(count * scale));
      const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
      const first = await openEmbedded(0, dir);
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      await submitWaiting(first.client, jobs, payloads);
      await first.close();
      let added = 0;
      return {
        async run() {
          const started = performance.now();
          const setup = await openEmbedded(0, dir);
          await setup.client.submit(waiting, payloads.next());
          const seconds = (performance.now() - started) / 1_000;
          added += 1;
          const { counts } = await setup.client.overview();
          await setup.close();
          return { attempted: jobs, completed: counts.queued - added, seconds };
        },
        close: () => rm(dir, { recursive: true, force: true }),
      };
    },
  };
}

function heapBytesUsed(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
