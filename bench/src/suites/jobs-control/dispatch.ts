import type { Case } from '../../runner/suite.js';
import { type BacklogOrder, OrderedBacklog } from './ordered-backlog.js';

const DRAINED = 50_000;

/** Jobs that wait in a queue of this size, from its opening to their handlers. */
export function dispatch(queued: number): Case {
  return {
    benchmark: `dispatch-${queued}`,
    unit: 'jobs',
    group: 'order',
    note: `${DRAINED} jobs of a queue of that size, from its opening to their handlers, in parts of at most a quarter of it; troupe: 10,000 order keys, 10 priorities, 100 tenants; fifo: one client, no keys, one priority; cpuMicros: of the whole process, per job`,
    systems: ['troupe', 'fifo'],
    repeat: { warmups: 1, iterations: 4, budgetMs: 60_000 },
    timeoutMs: 300_000,
    prepare: async ({ system, scale }) => {
      const jobs = Math.max(4_000, Math.round(queued * scale));
      const order: BacklogOrder = system === 'fifo' ? 'fifo' : 'ordered';
      const backlog = await OrderedBacklog.open(order);
      await backlog.pause();
      backlog.startWorker();
      const part = Math.min(DRAINED, jobs / 4);
      const parts = Math.max(1, Math.round((DRAINED * Math.min(1, scale)) / part));
      return {
        async run() {
          let [seconds, cpu] = [0, 0];
          for (let done = 0; done < parts; done += 1) {
            await backlog.fillTo(jobs);
            // The garbage of submits is not a cost of dispatch.
            globalThis.gc?.();
            const drained = await backlog.drain(part);
            seconds += drained.seconds;
            cpu += drained.cpuMicros;
          }
          const completed = parts * part;
          return { attempted: completed, completed, seconds, extra: { cpuMicros: cpu / completed } };
        },
        close: () => backlog.setup.close(),
      };
    },
  };
}
