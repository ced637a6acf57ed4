import { defineJob } from '@troupe/jobs';
import type { Case } from '../../runner/suite.js';
import { waiting } from '../jobs/job-definitions.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { openEmbedded, PAYLOAD_BYTES } from '../jobs-embedded/embedded-setup.js';

const BATCH = 4_000;
/** So many jobs have one tag. */
const JOBS_PER_TAG = 100;
/** Another definition for one batch among all. */
const rare = defineJob('bench.rare', { input: waiting.input, output: waiting.output });

/** The time of one search among queued jobs: by a tag, by a rare exec, by a state that no job has. */
export function searchIndexed(count: number): Case {
  return {
    benchmark: 'search',
    unit: 'searches',
    group: 'seeing',
    headline: 'max',
    note: `one page of at most 100 jobs among queued jobs: by a tag of ${JOBS_PER_TAG} jobs, by a rare exec, by state dead`,
    systems: ['troupe'],
    repeat: { warmups: 1, iterations: 3, budgetMs: 60_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const jobs = Math.max(BATCH, Math.round(count * scale));
      const setup = await openEmbedded(0);
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      const { client } = setup;
      const inputs = (size: number) => Array.from({ length: size }, () => payloads.next());
      for (let from = 0; from < jobs; from += BATCH) await client.submitAll(waiting, inputs(BATCH));
      await client.submitAll(rare, inputs(JOBS_PER_TAG), { tags: ['rare'] });
      const filters = [{ tag: 'rare' }, { exec: 'bench.rare' }, { state: 'dead' }] as const;
      return {
        async run() {
          const times: number[] = [];
          let found = 0;
          for (let i = 0; i < 30; i += 1) {
            const filter = filters[i % filters.length] ?? { tag: 'rare' };
            const started = performance.now();
            found += (await client.search(filter, { max: 100 })).jobs.length;
            times.push(performance.now() - started);
          }
          times.sort((a, b) => a - b);
          const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1_000;
          const correct = found === 20 * JOBS_PER_TAG ? times.length : 0;
          const at = (share: number): number =>
            times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
          return {
            attempted: times.length,
            completed: correct,
            seconds,
            p50: at(0.5),
            p99: at(0.99),
            max: at(1),
          };
        },
        close: () => setup.close(),
      };
    },
  };
}
