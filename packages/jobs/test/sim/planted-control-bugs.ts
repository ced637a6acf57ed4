import { OperatorCalls } from '#src/client/calls/operator-calls.js';
import { Fleet } from '#src/leader/dispatch/fleet.js';
import { WorkerSteering } from '#src/leader/steering/worker-steering.js';
import { SubmitProcessor } from '#src/leader/submit/submit-processor.js';
import { HandlerBatches } from '#src/worker/handlers/handler-batches.js';
import { WorkerReporter } from '#src/worker/worker-reporter.js';
import { type PlantedBug, swap } from './planted-bugs.js';

interface OpenBatches {
  waiting: { resolve(output: unknown): void; reject(error: Error): void }[];
  max: number;
}

const STOPS: readonly PlantedBug[] = [
  {
    name: 'a stopped worker gets jobs',
    plant: () =>
      swap(
        WorkerSteering,
        'refresh',
        (original) =>
          function refresh(this: { stops: Map<string, number> }, session: unknown) {
            const { stops } = this;
            this.stops = new Map();
            original.call(this, session);
            this.stops = stops;
          },
      ),
  },
  {
    name: 'a stopped worker does not end',
    plant: () => swap(WorkerSteering, 'tick', () => () => undefined),
  },
  {
    name: 'a stop is forgotten with the connection of its worker',
    plant: () =>
      swap(
        WorkerSteering,
        'tick',
        (original) =>
          function tick(this: {
            stops: Map<string, number>;
            context: { fleet: { sessions: Map<string, unknown> } };
          }) {
            original.call(this);
            for (const name of this.stops.keys())
              if (!this.context.fleet.sessions.has(name)) this.stops.delete(name);
          },
      ),
  },
];

const BATCHES: readonly PlantedBug[] = [
  {
    name: 'the outcomes of a batch go to its jobs in another order',
    plant: () =>
      swap(
        HandlerBatches,
        'settle',
        (original) =>
          function settle(this: unknown, items: unknown, outcomes: unknown) {
            original.call(this, items, [...(outcomes as unknown[])].reverse());
          },
      ),
  },
  {
    name: 'a failed job fails its whole batch',
    plant: () =>
      swap(
        HandlerBatches,
        'settle',
        (original) =>
          function settle(this: unknown, items: unknown, outcomes: unknown) {
            const failure = (outcomes as unknown[]).find((one) => one instanceof Error);
            if (failure !== undefined) throw failure;
            original.call(this, items, outcomes);
          },
      ),
  },
  {
    name: 'a batch has one job more than it may',
    plant: () =>
      swap(
        HandlerBatches,
        'runAll',
        (original) =>
          function runAll(this: OpenBatches) {
            this.max += 1;
            return (original.call(this) as Promise<void>).finally(() => {
              this.max -= 1;
            });
          },
      ),
  },
  {
    name: 'a batch begins beside the one before it',
    plant: () =>
      swap(
        HandlerBatches,
        'add',
        (original) =>
          function add(this: { isRunning: boolean }, item: unknown) {
            this.isRunning = false;
            return original.call(this, item);
          },
      ),
  },
];

const OTHERS: readonly PlantedBug[] = [
  {
    name: 'an instant holds by the clock of its client',
    plant: () =>
      swap(
        SubmitProcessor,
        'dueAt',
        (original) =>
          function dueAt(this: SubmitProcessor, item: unknown, at: unknown) {
            return original.call(this, { ...(item as object), runAt: undefined }, at);
          },
      ),
  },
  {
    name: 'a redrive does not wait between its pages',
    plant: () => swap(OperatorCalls, 'pause', () => () => Promise.resolve()),
  },
  {
    name: 'a redrive goes on before the end of its page',
    plant: () =>
      swap(
        OperatorCalls,
        'search',
        (original) =>
          async function search(this: OperatorCalls, ...args: unknown[]) {
            const found = (await original.call(this, ...args)) as { jobs: readonly unknown[]; next: number };
            return { ...found, jobs: found.jobs.slice(0, Math.max(1, found.jobs.length - 1)) };
          },
      ),
  },
  {
    name: 'a worker that is preferred by a key gets jobs beyond its credit',
    plant: () =>
      swap(
        Fleet,
        'preferred',
        () =>
          function preferred(this: Fleet, name: unknown) {
            return this.sessions.get(name as string);
          },
      ),
  },
  {
    name: 'a worker counts as blocked after a burst of chunks',
    leaderFaults: { isOfStreams: true },
    plant: () => {
      const restores = [
        swap(
          WorkerReporter,
          'scheduleChunks',
          (original) =>
            function scheduleChunks(this: { hasChunksOnly: boolean; isReportDue: boolean }) {
              if (!this.isReportDue) this.hasChunksOnly = true;
              original.call(this);
            },
        ),
        swap(
          WorkerReporter,
          'schedule',
          (original) =>
            function schedule(this: { hasChunksOnly: boolean }) {
              this.hasChunksOnly = false;
              original.call(this);
            },
        ),
        swap(
          WorkerReporter,
          'reportNow',
          (original) =>
            function reportNow(this: { hasChunksOnly: boolean }) {
              if (this.hasChunksOnly !== true) original.call(this);
            },
        ),
      ];
      return () => {
        for (const restore of restores.reverse()) restore();
      };
    },
  },
];

/** Seeds of the ordinary run find them too, later. */
export const plantedControlBugs: readonly PlantedBug[] = [...STOPS, ...BATCHES, ...OTHERS].map((bug) => ({
  leaderFaults: { controls: true as const },
  ...bug,
}));
