import { JobIndex } from '#src/leader/search/job-index.js';
import { JobSearch } from '#src/leader/search/job-search.js';
import { PageIndex } from '#src/leader/search/page-index.js';
import { WorkerSteering } from '#src/leader/steering/worker-steering.js';
import { AuditTrail } from '#src/ledger/audit/audit-trail.js';
import { Ledger } from '#src/ledger/ledger.js';
import { JobTags } from '#src/ledger/tags/job-tags.js';
import { type PlantedBug, swap } from './planted-bugs.js';

export const plantedOperatorBugs: readonly PlantedBug[] = [
  {
    name: 'a quiet worker gets jobs',
    plant: () => swap(WorkerSteering, 'refresh', () => () => undefined),
  },
  {
    name: 'tags of a job are forgotten with its record',
    plant: () => swap(JobTags, 'set', () => () => undefined),
  },
  {
    name: 'the index of searches skips a job',
    plant: () =>
      swap(
        JobIndex,
        'add',
        (original) =>
          function add(this: JobIndex, no: unknown, job: unknown) {
            if ((no as number) % 20 !== 3) original.call(this, no, { ...(job as object), orderKey: '' });
          },
      ),
  },
  {
    name: 'the index of searches drops pages that still have jobs',
    plant: () =>
      swap(
        PageIndex,
        'sweep',
        (original) =>
          function sweep(this: PageIndex) {
            original.call(this, () => false);
          },
      ),
  },
  {
    name: 'a page of a search begins one job too late',
    plant: () =>
      swap(
        JobSearch,
        'candidates',
        (original) =>
          function candidates(this: JobSearch, filter: unknown, after: unknown) {
            return original.call(this, filter, after === 0 ? 0 : (after as number) + 1);
          },
      ),
  },
  {
    name: 'an edited dead letter keeps its input',
    plant: () =>
      swap(
        Ledger,
        'redriveEdited',
        (original) =>
          function redriveEdited(this: Ledger, record: unknown) {
            const { job } = record as { readonly job: number };
            const payload = this.jobs.get(job)?.payload;
            return original.call(this, { ...(record as object), payload });
          },
      ),
  },
  {
    name: 'an act is not in the audit',
    plant: () => swap(AuditTrail, 'add', () => () => undefined),
  },
  {
    name: 'the oldest act is lost with a snapshot',
    plant: () =>
      swap(
        AuditTrail,
        'entries',
        (original) =>
          function* entries(this: AuditTrail) {
            yield* [...(original.call(this) as Iterable<unknown>)].slice(1);
          },
      ),
  },
];
