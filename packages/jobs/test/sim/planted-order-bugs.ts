import { JobQueues } from '#src/leader/dispatch/job-queues.js';
import { OrderGates } from '#src/leader/dispatch/limits/order-gates.js';
import { QueueGate } from '#src/leader/dispatch/limits/queue-gate.js';
import { QueueGates } from '#src/leader/dispatch/limits/queue-gates.js';
import { StartDeadlines } from '#src/leader/dispatch/limits/start-deadlines.js';
import { TokenBucket } from '#src/leader/dispatch/limits/token-bucket.js';
import { WorkerSession } from '#src/leader/sessions/worker-session.js';
import type { Job } from '#src/ledger/jobs/job.js';
import type { JobHeap } from '#src/ledger/jobs/job-heap.js';
import { Ledger } from '#src/ledger/ledger.js';
import type { QueueControls } from '#src/ledger/queue-controls.js';
import { type PlantedBug, swap, swapGetter } from './planted-bugs.js';

const LINES: readonly PlantedBug[] = [
  {
    name: 'frees the order key of a job between two attempts',
    plant: () =>
      swap(
        JobQueues,
        'addFirst',
        (original) =>
          function addFirst(this: JobQueues, job: Job, now: number) {
            this.orderGates.release(job.no);
            return original.call(this, job, now);
          },
      ),
  },
  {
    name: 'forgets after a restart who has an order key',
    plant: () => swap(OrderGates, 'restore', () => () => true),
  },
  {
    name: 'keeps the order key of a job that has ended',
    plant: () => swap(JobQueues, 'ended', () => () => undefined),
  },
  {
    name: 'counts jobs that were cancelled in their queue as waiting',
    plant: () =>
      swap(
        JobQueues,
        'cancelled',
        () =>
          function cancelled(this: { delayedJobs: JobHeap }, job: unknown) {
            this.delayedJobs.remove(job as Job);
          },
      ),
  },
  {
    name: 'lets the latest job of an order key go first',
    plant: () =>
      swap(
        OrderGates,
        'enter',
        (original) =>
          function enter(this: OrderGates, ...args: unknown[]) {
            return original.call(this, ...args.slice(0, 4), { atHead: true });
          },
      ),
  },
  {
    name: 'begins a job whose time to begin is over',
    plant: () => swap(StartDeadlines, 'add', () => () => undefined),
  },
  {
    name: 'ignores the labels of a worker',
    plant: () =>
      swap(
        WorkerSession,
        'servesJob',
        (original) =>
          function servesJob(this: WorkerSession, job: object) {
            return original.call(this, {
              ...job,
              requires: [],
              exec: (job as Job['policy']).exec,
              group: (job as Job['policy']).group,
              feature: (job as Job['policy']).feature,
            });
          },
      ),
  },
  {
    name: 'serves the lowest priority first',
    plant: () =>
      swap(
        JobQueues,
        'nextClass',
        () =>
          function nextClass(this: { classes: { level: number; round: { size: number } }[] }) {
            const waiting = this.classes.filter(({ round }) => round.size > 0);
            return waiting.sort((one, other) => one.level - other.level)[0];
          },
      ),
  },
];

const LIMITS: readonly PlantedBug[] = [
  {
    name: 'begins jobs of a paused queue',
    plant: () =>
      swap(
        QueueGate,
        'isOpen',
        () =>
          function isOpen(this: QueueGate) {
            return this.hasRoom;
          },
      ),
  },
  {
    name: 'does not count attempts against the limit of a queue',
    plant: () => swapGetter(QueueGate, 'hasRoom', () => true),
  },
  {
    name: 'forgets limits and modes at a restart',
    plant: () =>
      swap(
        QueueGates,
        'change',
        (original) =>
          function change(this: QueueGates, control: object, queues: readonly unknown[], emptyAt: number) {
            const isRestart = emptyAt !== Number.NEGATIVE_INFINITY;
            return original.call(
              this,
              isRestart ? { ...control, mode: 'open', limits: {} } : control,
              queues,
              emptyAt,
            );
          },
      ),
  },
  {
    name: 'takes no token of a rate',
    plant: () => swap(TokenBucket, 'take', () => () => undefined),
  },
  {
    name: 'loses the mode of a queue with its next limits',
    plant: () =>
      swap(
        Ledger,
        'apply',
        (original) =>
          function apply(this: { queueControls: QueueControls }, record: { type: string; queue: string }) {
            const result = original.call(this, record);
            const control = this.queueControls.get(record.queue);
            if (record.type === 'queue_limits' && control !== undefined)
              this.queueControls.set({ ...control, mode: 'open' });
            return result;
          },
      ),
  },
];

/** Seeds of the ordinary run find them too, later. */
export const plantedOrderBugs: readonly PlantedBug[] = [
  ...LINES.map((bug) => ({ ...bug, leaderFaults: { order: 'lines' as const } })),
  ...LIMITS.map((bug) => ({ ...bug, leaderFaults: { order: 'limits' as const } })),
];
