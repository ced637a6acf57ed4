import { isFed } from '../../job/definition/job-policy.js';
import { StoredFeed } from '../../ledger/feeds/stored-feed.js';
import { identityOf } from '../../ledger/identity-usage.js';
import type { FeedEndRecord, FeedRecord } from '../../ledger/ledger-record.js';
import type { FeedView } from '../../protocol/client/admin-messages.js';
import type {
  FedItems,
  FeedMessage,
  FeedRefusal,
  FeedRequest,
  FeedState,
  OpenFeed,
} from '../../protocol/feed-messages.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import { FedJob, type OpenedFeed } from './fed-job.js';
import {
  bytesOf,
  emptyProblem,
  FEED_ENDED,
  feedableJob,
  feedRefusal,
  itemsProblem,
} from './feed-admission.js';
import { FeedReports } from './feed-reports.js';
import { UnopenedFeeds } from './unopened-feeds.js';

/** Items of one feed that its handler has not taken; clients wait beyond it. */
const FEED_WINDOW_BYTES = 1024 * 1024;
/** No client that keeps to its windows gets here. */
const OVERRUN_BYTES_MAX = 4 * FEED_WINDOW_BYTES;
/** A feed that is too long is dropped in steps of at most this size, a record each. */
const DROP_BYTES_MAX = 64 * 1024;
/** Feeds one session may have open. */
const FEEDS_MAX = 4_096;

const UNKNOWN_STATE = {
  accepted: 0,
  taken: 0,
  window: 0,
  phase: 'waiting',
  isEnded: false,
  refusal: undefined,
} as const;
/** Of a job without one. */
const NO_FEED = new StoredFeed();
const TOO_MANY_OPEN = feedRefusal('ERR_QUEUE_FULL', `more than ${FEEDS_MAX} open feeds of one client`, 1_000);
const WINDOW_OVERRUN = feedRefusal('ERR_QUEUE_FULL', 'more items than its window allows', 1_000);
const OUT_OF_ORDER = feedRefusal('ERR_MESSAGE_MALFORMED', 'the number of the first item is not the next one');

/**
 * The feeds of jobs: items of clients become records, and go on to the handler once they are durable. A job
 * that waits keeps them; another attempt gets them all again.
 */
export class FeedTable {
  private readonly context: LeaderParts<
    | 'diskRefusal'
    | 'leaseTime'
    | 'ledger'
    | 'limits'
    | 'markDirty'
    | 'recordTime'
    | 'stage'
    | 'uncommitted'
    | 'whenApplied'
  >;
  private readonly jobs = new Map<number, FedJob>();
  private readonly unopened: UnopenedFeeds;
  private readonly reports: FeedReports;
  /** Jobs whose worker may get items. */
  private readonly unsent = new Set<number>();

  /** Jobs and feeders with a record that is not durable. */
  private readonly staged = new Set<string>();
  /** The latest session of each client, while one is open. */
  private readonly newest = new Map<string, ClientSession>();
  /** The identities that uncommitted items count for. */
  private readonly owners = new WeakMap<FeedRecord, string>();

  constructor(context: FeedTable['context']) {
    this.context = context;
    this.unopened = new UnopenedFeeds(context);
    this.reports = new FeedReports(context, (opened) => this.stateOf(opened));
  }

  open(session: ClientSession, message: OpenFeed): void {
    const { job, refusal } = { job: undefined, ...feedableJob(this.context, session, message.job) };
    if (job === undefined) return this.refuse(session, message, refusal as FeedRefusal);
    const opened = this.openedBy(session, message);
    if (opened === undefined) return this.refuse(session, message, TOO_MANY_OPEN);
    this.report(job, opened);
  }

  feed(session: ClientSession, message: FeedMessage): void {
    // A message of an earlier connection must not follow the answer to its repetition.
    if (session.closed || this.newest.get(feederOf(session)) !== session) return;
    const name = `${message.job} ${feederOf(session)}`;
    // Its number is not known before that: a refusal must not follow a record of the same item.
    if (this.staged.has(name)) return this.context.whenApplied(() => this.feed(session, message));
    const empty = emptyProblem(message);
    if (empty !== undefined) return this.refuse(session, message, empty);
    const { job, refusal } = { job: undefined, ...feedableJob(this.context, session, message.job) };
    if (job === undefined) return this.refuse(session, message, refusal as FeedRefusal);
    const opened = this.openedBy(session, message);
    if (opened === undefined) return this.refuse(session, message, TOO_MANY_OPEN);
    const { feeder } = opened;
    const { first, items, final } = message;
    const stored = this.context.ledger.feeds.get(job.no);
    // Before its end counts: the answer to the first of two equal messages may have been lost.
    if (stored?.has({ feeder, first, items, final }) === true) return this.report(job, opened);
    const problem = this.takeProblem(session, job, message, opened);
    if (problem !== undefined) {
      this.refuse(session, message, problem);
      if (job.end !== undefined) this.close(session, message.feed);
      return;
    }
    const at = this.context.recordTime;
    const owner = identityOf(job.client);
    const record: FeedRecord = { type: 'feed', at, job: job.no, feeder, first, items, final };
    this.owners.set(record, owner);
    this.staged.add(name);
    this.context.uncommitted.addFeed(bytesOf(items), owner);
    this.context.stage(record, session, message.feed);
  }

  /** The record is applied: its items are in the log, unless the job or the feed ended before it. */
  fed(record: FeedRecord, job: LeaderJob | undefined, session: ClientSession, number: number): void {
    const stored = this.context.ledger.feeds.get(record.job);
    const opened = session.feeds.get(number);
    this.context.uncommitted.addFeed(-bytesOf(record.items), this.owners.get(record) ?? '');
    this.staged.delete(`${record.job} ${record.feeder}`);
    if (stored?.has(record) === true) return this.changed(record.job);
    if (opened === undefined) return;
    const isEnded = job?.end !== undefined || stored?.end !== undefined;
    this.refuse(session, { feed: number, job: record.job }, isEnded ? FEED_ENDED : OUT_OF_ORDER);
  }

  /** The record is applied: the feed has ended by its grace. */
  ended({ job }: FeedEndRecord): void {
    this.unopened.remove(job);
    this.changed(job);
  }

  close(session: ClientSession, number: number): void {
    const opened = session.feeds.get(number);
    if (opened === undefined) return;
    session.feeds.delete(number);
    this.reports.forget(opened);
    const fed = this.jobs.get(opened.job);
    if (fed === undefined) return;
    fed.openedBy.delete(opened);
    if (fed.openedBy.size === 0) this.unopen(opened.job);
  }

  sessionOpened(session: ClientSession): void {
    this.newest.set(feederOf(session), session);
  }

  sessionClosed(session: ClientSession): void {
    for (const number of [...session.feeds.keys()]) this.close(session, number);
    this.reports.sessionClosed(session);
    if (this.newest.get(feederOf(session)) === session) this.newest.delete(feederOf(session));
  }

  /** Its record is durable: an attempt begins, and gets every item from the first on. */
  assigned(job: LeaderJob): void {
    if (!isFed(job.policy)) return;
    const fed = this.fedJob(job.no);
    fed.restart();
    this.changed(job.no);
    if (fed.openedBy.size === 0) this.unopened.add(job.no);
  }

  /** Runs since before the leader's restart. Its worker and its clients come back. */
  restored(job: LeaderJob): void {
    if (isFed(job.policy)) this.unopened.add(job.no);
  }

  /** The job has ended, and its record is durable. */
  jobEnded(no: number): void {
    const fed = this.jobs.get(no);
    if (fed === undefined) return;
    for (const opened of fed.openedBy) {
      this.reports.forget(opened);
      opened.session.feeds.delete(opened.number);
      this.reports.answer(opened.session, this.stateOf(opened));
    }
    this.jobs.delete(no);
    this.unsent.delete(no);
  }

  /** Only the holder of the running attempt is believed, as with its end. */
  requested(session: WorkerSession, requests: readonly FeedRequest[]): void {
    for (const request of requests) {
      const job = this.context.ledger.jobs.get(request.job);
      const lease = job?.lease;
      if (job === undefined || lease?.attempt !== request.attempt || lease.session !== session) continue;
      const fed = this.fedJob(job.no);
      const stored = this.storedFeed(job.no);
      fed.requested(session, request, stored);
      this.dropTaken(job, fed, stored);
      this.changed(job.no);
    }
  }

  /** At the end of a turn: items to workers, states to clients. */
  flush(): void {
    for (const no of this.unsent) this.sendItems(no);
    this.unsent.clear();
    this.reports.flush();
  }

  /** Ends the feeds of running jobs that no client has had open for their grace. */
  tick(): void {
    this.unopened.tick();
  }

  /** Whether another attempt would see the same items; not if the record that drops some is on its way. */
  isReplayable(no: number): boolean {
    return (this.jobs.get(no)?.droppedTo ?? 0) === 0 && this.context.ledger.isReplayable(no);
  }

  /** For an operator; nothing of a job that was not fed. */
  view(no: number): { readonly feed?: FeedView } {
    const stored = this.context.ledger.feeds.get(no);
    if (stored === undefined) return {};
    const { next: items, bytes: keptBytes, end = '', isReplayable } = stored;
    const taken = this.jobs.get(no)?.taken ?? 0;
    return { feed: { items, taken, keptBytes, end, isReplayable } };
  }

  private takeProblem(
    session: ClientSession,
    job: LeaderJob,
    message: FeedMessage,
    { feeder }: OpenedFeed,
  ): FeedRefusal | undefined {
    const stored = this.context.ledger.feeds.get(job.no);
    if (job.end !== undefined || stored?.end !== undefined) return FEED_ENDED;
    if (!Number.isSafeInteger(message.first) || message.first < 0) return OUT_OF_ORDER;
    const problem = itemsProblem(this.context, session, job, message, feeder);
    if (problem !== undefined) return problem;
    const untaken = this.fedJob(job.no).untakenBytes(this.storedFeed(job.no));
    return untaken > OVERRUN_BYTES_MAX ? WINDOW_OVERRUN : undefined;
  }

  /** The feed of an ended job is not kept open: a redrive would wait for a client that takes it for ended. */
  private report(job: LeaderJob, opened: OpenedFeed): void {
    if (job.end === undefined) return this.reports.changed(opened);
    this.reports.answer(opened.session, this.stateOf(opened));
    this.close(opened.session, opened.number);
  }

  private openedBy(session: ClientSession, { feed, job }: OpenFeed): OpenedFeed | undefined {
    const known = session.feeds.get(feed);
    if (known?.job === job) return known;
    this.close(session, feed);
    if (session.feeds.size >= FEEDS_MAX) return undefined;
    const opened = { session, number: feed, job, feeder: feederOf(session) };
    session.feeds.set(feed, opened);
    const fed = this.fedJob(job);
    fed.openedBy.add(opened);
    this.unopened.remove(job);
    return opened;
  }

  private fedJob(no: number): FedJob {
    const known = this.jobs.get(no);
    if (known !== undefined) return known;
    const fed = new FedJob();
    this.jobs.set(no, fed);
    return fed;
  }

  /** No client has the feed open any more. The state of a job that waits is made again when it runs. */
  private unopen(no: number): void {
    this.unopened.add(no);
    if (this.context.ledger.jobs.get(no)?.state !== 'running') this.jobs.delete(no);
  }

  /** Items, taken items or the phase of a job have changed. */
  private changed(no: number): void {
    this.unsent.add(no);
    for (const opened of this.jobs.get(no)?.openedBy ?? []) this.reports.changed(opened);
  }

  private sendItems(no: number): void {
    const fed = this.jobs.get(no);
    const stored = this.context.ledger.feeds.get(no);
    const lease = this.context.ledger.jobs.get(no)?.lease;
    if (fed === undefined || stored === undefined || lease === undefined) return;
    const { session, attempt } = lease;
    if (!session.open || !fed.isRunningAt(session, attempt)) return;
    const items: FedItems | undefined = fed.next(no, stored);
    if (items === undefined) return;
    session.add({ kind: 'fed_items', items: [items] });
    this.context.markDirty(session);
  }

  /** Beyond its bound a feed is not kept for another attempt: what the handler has taken goes. */
  private dropTaken({ no, policy, pending }: LeaderJob, fed: FedJob, stored: StoredFeed): void {
    // The attempt has ended, and its record may say that the job is tried again.
    if (pending) return;
    const { feedBytesMax = 0 } = policy.limits;
    const isTooLong = stored.bytes > feedBytesMax || !stored.isReplayable;
    const from = Math.max(fed.droppedTo, stored.base);
    // One of the size of its bound, so that twice its bound is kept at most.
    const step = Math.min(feedBytesMax === 0 ? DROP_BYTES_MAX : feedBytesMax, DROP_BYTES_MAX);
    if (!isTooLong || stored.bytesBetween(from, fed.taken) < step) return;
    fed.droppedTo = fed.taken;
    this.context.stage({ type: 'feed_drop', at: this.context.recordTime, job: no, below: fed.taken });
  }

  private storedFeed(no: number): StoredFeed {
    return this.context.ledger.feeds.get(no) ?? NO_FEED;
  }

  private stateOf({ number, job: no, feeder }: OpenedFeed): FeedState {
    const fed = this.jobs.get(no);
    const phase = this.phaseOf(no, fed);
    const stored = this.storedFeed(no);
    const untaken = fed?.untakenBytes(stored) ?? stored.bytes;
    return {
      feed: number,
      accepted: stored.feeders.get(feeder) ?? 0,
      taken: fed?.taken ?? 0,
      window: phase === 'ended' ? 0 : Math.max(0, FEED_WINDOW_BYTES - untaken),
      phase,
      isEnded: phase === 'ended' || stored.end !== undefined,
      refusal: undefined,
    };
  }

  private phaseOf(no: number, fed: FedJob | undefined): FeedState['phase'] {
    const job = this.context.ledger.jobs.get(no);
    if (job === undefined || job.end !== undefined) return 'ended';
    const { lease } = job;
    return lease !== undefined && fed?.isRunningAt(lease.session, lease.attempt) === true
      ? 'running'
      : 'waiting';
  }

  /** A client that may not feed the job learns nothing else of it. */
  private refuse(session: ClientSession, { feed: number, job }: OpenFeed, refusal: FeedRefusal): void {
    const opened = session.feeds.get(number);
    const state = opened?.job === job ? this.stateOf(opened) : { ...UNKNOWN_STATE, feed: number };
    this.reports.answer(session, { ...state, refusal });
  }
}

/** A client in the records of feeds: its numbers go on over its sessions. */
function feederOf({ client, token }: ClientSession): string {
  return `${client} ${token}`;
}
