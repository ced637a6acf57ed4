import type { Case } from '../../runner/suite.js';
import type { JobOrder } from '../jobs/job-order.js';
import { DURABILITY, openSystem } from '../jobs/job-system.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { runLoad } from '../jobs/run-load.js';
import { PAYLOAD_BYTES } from '../jobs-embedded/embedded-setup.js';

const OUTSTANDING = 4_000;
const TROUPE_JOBS = 200_000;
const PEER_JOBS = 10_000;

const NOTES: Readonly<Record<JobOrder, string>> = {
  priorities: 'jobs of ten priorities; bullmq: `priority`',
  keys: 'jobs of 1,000 keys, one at a time of each; troupe: `orderKey`; pg-boss: a queue of policy `singleton` with `singletonKey`, fetched 500 at a time',
};

/** Ordered jobs over the network, beside the peer that has the same feature. */
export function besidePeer(order: JobOrder, peer: string): Case {
  return {
    benchmark: order,
    unit: 'jobs',
    group: 'order, beside peers',
    note: `${NOTES[order]}; ${OUTSTANDING} outstanding, one client and one worker process; ${DURABILITY}`,
    systems: ['troupe', peer],
    repeat: { warmups: 1, iterations: 3, budgetMs: 30_000 },
    timeoutMs: 300_000,
    prepare: async ({ system, scale }) => {
      const jobs = Math.max(1_000, Math.round((system === 'troupe' ? TROUPE_JOBS : PEER_JOBS) * scale));
      const load = { jobs, outstanding: OUTSTANDING, bytes: PAYLOAD_BYTES, order };
      const opened = await openSystem(system, load);
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      return {
        run: () =>
          runLoad(
            (payload, caller) => opened.run(payload, caller),
            () => payloads.next(),
            load,
          ),
        close: () => opened.close(),
      };
    },
  };
}
