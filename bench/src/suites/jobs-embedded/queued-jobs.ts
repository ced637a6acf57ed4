import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case } from '../../runner/suite.js';
import { waiting } from '../jobs/job-definitions.js';
import { Payloads } from '../jobs/payload.js';
import { fill, openRig, PAYLOAD_BYTES } from './embedded-setup.js';

/** Heap per waiting job, its payload included. */
export function queuedMemory(count: number): Case {
  return {
    benchmark: 'queued-memory',
    unit: 'jobs',
    group: 'jobs that wait',
    headline: 'heapBytes',
    note: `heap per queued job, its own payload of ${PAYLOAD_BYTES} bytes included`,
    systems: ['troupe'],
    repeat: { warmups: 0, iterations: 1, budgetMs: 60_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const jobs = Math.max(1_000, Math.round(count * scale));
      const rig = await openRig(0);
      const payloads = new Payloads(PAYLOAD_BYTES);
      return {
        async run() {
          const before = used();
          const started = performance.now();
          await fill(rig.client, jobs, payloads);
          const seconds = (performance.now() - started) / 1_000;
          const heapBytes = (used() - before) / jobs;
          const { counts } = await rig.client.overview();
          return { attempted: jobs, completed: counts.queued, seconds, heapBytes };
        },
        close: () => rig.close(),
      };
    },
  };
}

/** From nothing to the first answer, with so many jobs in the folder. */
export function restart(count: number): Case {
  return {
    benchmark: 'restart',
    unit: 'jobs',
    group: 'jobs that wait',
    note: 'open the folder, replay, first durable submit answered; the rate is queued jobs per second of that',
    systems: ['troupe'],
    repeat: { warmups: 0, iterations: 3, budgetMs: 60_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const jobs = Math.max(1_000, Math.round(count * scale));
      const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
      const first = await openRig(0, dir);
      const payloads = new Payloads(PAYLOAD_BYTES);
      await fill(first.client, jobs, payloads);
      await first.close();
      let added = 0;
      return {
        async run() {
          const started = performance.now();
          const rig = await openRig(0, dir);
          await rig.client.submit(waiting, payloads.next());
          const seconds = (performance.now() - started) / 1_000;
          added += 1;
          const { counts } = await rig.client.overview();
          await rig.close();
          return { attempted: jobs, completed: counts.queued - added, seconds };
        },
        close: () => rm(dir, { recursive: true, force: true }),
      };
    },
  };
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
