import type { Case } from '../../runner/suite.js';
import { timeCalls } from './call-times.js';
import { type BacklogOrder, OrderedBacklog } from './ordered-backlog.js';

const CALLS = 40;

/** The time of one explanation of a job among queued jobs. */
export function explain(queued: number): Case {
  return {
    benchmark: `explain-${queued}`,
    unit: 'explanations',
    group: 'seeing',
    headline: 'max',
    note: `jobs spread over a queue of that size, the last one included, each with its reasons; troupe: 10,000 order keys, 10 priorities, 100 tenants; fifo: all in one lane, so that its last job has all others ahead`,
    systems: ['troupe', 'fifo'],
    repeat: { warmups: 1, iterations: 5, budgetMs: 30_000 },
    timeoutMs: 300_000,
    prepare: async ({ system, scale }) => {
      const order: BacklogOrder = system === 'fifo' ? 'fifo' : 'ordered';
      const backlog = await OrderedBacklog.open(order);
      const ids = await backlog.fillTo(Math.max(4_000, Math.round(queued * scale)));
      const last = ids.length - 1;
      const { client } = backlog.setup;
      return {
        run: () =>
          timeCalls(CALLS, async (i) => {
            const id = ids[Math.max(1, Math.round((last * (i + 1)) / CALLS))] ?? '';
            const { reasons } = await client.explain(id);
            // No worker is connected, and jobs are ahead of all but the first.
            return reasons.some(({ kind }) => kind === 'no-worker') && reasons.length > 1;
          }),
        close: () => backlog.setup.close(),
      };
    },
  };
}
