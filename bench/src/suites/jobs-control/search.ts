import type { JobFilter } from '@troupe/jobs';
import type { Case } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { PAYLOAD_BYTES } from '../jobs-embedded/embedded-setup.js';
import { timeCalls } from './call-times.js';
import { OrderedBacklog, ordered } from './ordered-backlog.js';

/** So many jobs have one tag, and are all of their client and exec. */
const RARE_JOBS = 100;

/** The time of one search among queued jobs, by each field that is indexed. */
export function search(queued: number): Case {
  return {
    benchmark: `search-${queued}`,
    unit: 'searches',
    group: 'seeing',
    headline: 'max',
    note: `one page of at most 100 jobs of a queue of that size with 10,000 order keys, 10 priorities and 100 tenants: by a tag and by an exec of ${RARE_JOBS} jobs, with and without a client, by an order key, by an idempotency key, by a time, by state dead, and by exec and state`,
    systems: ['troupe'],
    repeat: { warmups: 1, iterations: 5, budgetMs: 30_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const backlog = await OrderedBacklog.open('ordered');
      await backlog.fillTo(Math.max(4_000, Math.round(queued * scale)));
      const { app, client } = backlog.setup;
      const payloads = new PayloadSource(PAYLOAD_BYTES, 2);
      const rare = app.client({ name: 'rare' });
      const inputs = Array.from({ length: RARE_JOBS - 1 }, () => payloads.next());
      const [first] = await rare.submitAll(digest, inputs, { tags: ['rare'] });
      await rare.submit(digest, payloads.next(), { tags: ['rare'], key: 'one' });
      const { submittedAt: since = 0 } = (await first?.inspect()) ?? {};
      const filters: readonly (readonly [JobFilter, number])[] = [
        [{ tag: 'rare' }, RARE_JOBS],
        [{ client: 'rare', exec: digest.exec }, RARE_JOBS],
        [{ exec: digest.exec }, RARE_JOBS],
        [{ key: 'one' }, 1],
        [{ since }, RARE_JOBS],
        [{ state: 'dead' }, 0],
        [{ client: 'tenant-7', exec: ordered.exec, orderKey: 'key-7' }, 100],
        [{ orderKey: 'key-7' }, 100],
        [{ exec: ordered.exec, state: 'queued' }, 100],
      ];
      return {
        run: () =>
          timeCalls(5 * filters.length, async (i) => {
            const [filter, found] = filters[i % filters.length] as (typeof filters)[number];
            const { jobs } = await client.search(filter, { max: 100 });
            return scale < 1 ? jobs.length > 0 || found === 0 : jobs.length === found;
          }),
        close: () => backlog.setup.close(),
      };
    },
  };
}
