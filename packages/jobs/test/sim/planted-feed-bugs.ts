import { FeedSender } from '#src/client/machine/feed-sender.js';
import type { Payload } from '#src/job/payload/payload.js';
import { FedJob } from '#src/leader/feeds/fed-job.js';
import type { FeedReports } from '#src/leader/feeds/feed-reports.js';
import { FeedTable } from '#src/leader/feeds/feed-table.js';
import { UnopenedFeeds } from '#src/leader/feeds/unopened-feeds.js';
import type { ClientSession } from '#src/leader/sessions/client-session.js';
import { StoredFeed } from '#src/ledger/feeds/stored-feed.js';
import { Ledger } from '#src/ledger/ledger.js';
import type { FeedRecord } from '#src/ledger/ledger-record.js';
import type { FedItems, FeedMessage, FeedRequest, FeedState } from '#src/protocol/feed-messages.js';
import { FeedQueue } from '#src/worker/feed/feed-queue.js';
import { FeedQueues } from '#src/worker/feed/feed-queues.js';
import { type PlantedBug, swap } from './planted-bugs.js';

interface SenderInside {
  drafts: { size: number; unshift(draft: object): void };
}

export const plantedFeedBugs: readonly PlantedBug[] = [
  {
    name: 'gives a handler items again that it has already',
    plant: () => {
      const requests = swap(
        FedJob,
        'requested',
        (original) =>
          function requested(
            this: { worker: unknown },
            session: unknown,
            request: FeedRequest,
            feed: unknown,
          ) {
            this.worker = undefined;
            return original.call(this, session, { ...request, received: request.taken }, feed);
          },
      );
      const pushes = swap(
        FeedQueue,
        'push',
        (original) =>
          function push(this: { received: number }, fed: FedItems) {
            return original.call(this, { ...fed, first: this.received });
          },
      );
      return () => {
        requests();
        pushes();
      };
    },
  },
  {
    name: 'acknowledges an item before it is durable',
    plant: () =>
      swap(
        FeedTable,
        'feed',
        (original) =>
          function feed(
            this: { reports: FeedReports; stateOf(opened: object): FeedState },
            session: ClientSession,
            message: FeedMessage,
          ) {
            original.call(this, session, message);
            const opened = session.feeds.get(message.feed);
            if (opened === undefined) return;
            const accepted = message.first + message.items.length + (message.final ? 1 : 0);
            this.reports.answer(session, { ...this.stateOf(opened), accepted });
          },
      ),
  },
  {
    name: 'gives a new attempt only the items that the last one had not taken',
    plant: () => {
      const restarts = swap(FedJob, 'restart', () => () => undefined);
      const requests = swap(
        FedJob,
        'requested',
        (original) =>
          function requested(this: FedJob, session: unknown, request: FeedRequest, feed: unknown) {
            const received = Math.max(request.received, this.taken);
            return original.call(this, session, { ...request, received }, feed);
          },
      );
      return () => {
        restarts();
        requests();
      };
    },
  },
  {
    name: 'loses the end of a feed that comes with an item',
    plant: () =>
      swap(
        StoredFeed,
        'take',
        (original) =>
          function take(this: StoredFeed, record: FeedRecord) {
            const isEnded = this.end !== undefined;
            original.call(this, record);
            if (!isEnded && record.final && record.items.length > 0) this.end = undefined;
          },
      ),
  },
  {
    name: 'takes a repeated item twice',
    plant: () =>
      swap(
        StoredFeed,
        'take',
        (original) =>
          function take(this: StoredFeed, record: FeedRecord) {
            const next = this.feeders.get(record.feeder) ?? 0;
            if (record.first < next) this.feeders.set(record.feeder, record.first);
            original.call(this, record);
          },
      ),
  },
  {
    name: 'does not know a repeated message, and refuses it behind the end',
    plant: () => swap(StoredFeed, 'has', () => () => false),
  },
  {
    name: 'forgets the numbers of a feed with the end of its job',
    plant: () =>
      swap(
        StoredFeed,
        'clear',
        (original) =>
          function clear(this: StoredFeed) {
            original.call(this);
            this.feeders.clear();
          },
      ),
  },
  {
    name: 'forgets the items of a feed in a snapshot',
    plant: () => swap(StoredFeed, 'kept', () => (): readonly Payload[] => []),
  },
  {
    name: 'a client does not repeat its item after a reconnect',
    plant: () => swap(FeedSender, 'rewind', () => () => undefined),
  },
  {
    name: 'a client sends its latest item first',
    plant: () =>
      swap(
        FeedSender,
        'add',
        () =>
          function add(this: SenderInside, draft: object) {
            this.drafts.unshift({ ...draft, isSent: false });
          },
      ),
  },
  {
    name: 'never ends a feed that no client has open',
    plant: () => swap(UnopenedFeeds, 'tick', () => () => undefined),
  },
  {
    name: 'ends a feed that a client has open',
    plant: () => swap(UnopenedFeeds, 'remove', () => () => undefined),
  },
  {
    name: 'tries a job again whose feed has lost its beginning',
    plant: () => swap(Ledger, 'isReplayable', () => () => true),
  },
  {
    name: 'a worker does not request its items in a new session',
    plant: () => swap(FeedQueues, 'rewind', () => () => undefined),
  },
  {
    name: 'an attempt that is over takes the end of its feed for a real one',
    plant: () =>
      swap(
        FeedQueue,
        'fail',
        () =>
          function fail(this: { end: string; notify(): void }) {
            this.end = 'final';
            this.notify();
          },
      ),
  },
];
