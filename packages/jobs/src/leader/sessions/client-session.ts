import type { Ring } from '../../collections/ring.js';
import { ALL_QUEUES } from '../../job/queue-control.js';
import type { Job } from '../../ledger/jobs/job.js';
import type { StoredPolicy } from '../../ledger/jobs/stored-policy.js';
import type {
  ClientMessage,
  JobOutcome,
  Receipt,
  Refusal,
  ToClient,
} from '../../protocol/client/client-messages.js';
import type { ForPrincipal } from '../../protocol/client/for-principal.js';
import type { PeerPort } from '../../protocol/leader-interface.js';
import type { OpenedFeed } from '../feeds/fed-job.js';
import type { StreamReader } from '../streams/stream-reader.js';
import { type Numbering, UNNUMBERED } from '../submit/uncommitted-jobs.js';

/** The way to a client: a connection, or an actor of the same process. */
export type ClientPort = Pick<PeerPort<ToClient>, 'access' | 'offer' | 'endSlowReader'>;

/** Outcomes that are read from the ledger again at a time. */
const POSTPONED_SLICE = 256;
/** A client with more outcomes waiting does not read at all. */
const POSTPONED_MAX = 1_048_576;

/**
 * One connection of one client. Its receipts and outcomes collect here during a turn and leave in one message
 * each. A session is identified by this object, not by the client's name: the end of an old connection cannot
 * affect a new one.
 */
export class ClientSession {
  readonly kind = 'client';
  readonly client: string;
  readonly token: string;
  /** Policies by the number under which the client defined them. */
  readonly policies = new Map<number, StoredPolicy>();
  /** Definitions that were not taken: not allowed, not supported, or no room when they were announced. */
  readonly refusedDefinitions = new Map<number, Refusal>();
  /** Its readers of streams, by the client's numbers. */
  readonly readers = new Map<number, StreamReader>();
  /** The feeds that it has open, by the client's numbers. */
  readonly feeds = new Map<number, OpenedFeed>();
  /** Submits that were refused, by code. */
  readonly refusals = new Map<string, number>();
  /** In record time. */
  readonly openedAt: number;
  numbering: Numbering = UNNUMBERED;
  closed = false;
  /** Slices of a long list, and the messages behind it. */
  sliced: Ring<ClientMessage> | undefined = undefined;
  /** In the leader's list of sessions with messages to write. */
  dirty = false;
  /** Its latest message had no room. */
  isFull = false;
  private isAnswering = false;
  /** Jobs whose outcome had no room; it is in the ledger (ADR 0416). */
  private postponed: number[] = [];
  private readonly port: ClientPort;
  // Undefined while empty: an empty array that is kept between turns is promoted to the old generation, and
  // its contents with it.
  private receipts: Receipt[] | undefined = undefined;
  private outcomes: JobOutcome[] | undefined = undefined;
  private others: ToClient[] | undefined = undefined;

  constructor(client: string, token: string, port: ClientPort, openedAt: number) {
    this.openedAt = openedAt;
    this.client = client;
    this.token = token;
    this.port = port;
  }

  get producer(): number {
    return this.numbering.producer;
  }

  /** Undefined where there are no keys: all clients are one identity, and share the whole tables. */
  get identity(): string | undefined {
    return this.port.access?.identity;
  }

  /** For the record of an act. Its own name comes first: a principal is only what the client says. */
  authorOf({ principal }: ForPrincipal): string {
    return principal === undefined ? this.client : `${this.client}/${principal}`;
  }

  takeSubmits(jobs: number): boolean {
    return this.port.access?.takeSubmits?.(jobs) ?? true;
  }

  permitsSubmit(group: string): boolean {
    return this.port.access?.permits('submit', `job.submit.${group}`) ?? true;
  }

  /**
   * A client may always observe, feed and cancel its own jobs. A job that is not permitted is reported as
   * unknown; only a feed of it is refused.
   */
  permits(action: 'observe' | 'feed' | 'cancel' | 'admin', job: Job): boolean {
    const { access } = this.port;
    if (access === undefined || (action !== 'admin' && access.owns(job.client))) return true;
    return access.permits(action, `job.${action}.${job.policy.group}`);
  }

  /** `group/exec`, or `*` for all queues. */
  permitsQueue(action: 'observe' | 'admin', queue: string): boolean {
    const subject = queue === ALL_QUEUES ? `leader.${action}` : `job.${action}.${queue.split('/')[0]}`;
    return this.port.access?.permits(action, subject) ?? true;
  }

  /** Whether it may change something of this client, in this group. */
  permitsChange(client: string, group: string): boolean {
    const { access } = this.port;
    return access === undefined || access.owns(client) || access.permits('admin', `job.admin.${group}`);
  }

  /** Counts and workers do not belong to a job, so the right to see them is one of its own. */
  get permitsOverview(): boolean {
    return this.port.access?.permits('observe', 'leader.observe') ?? true;
  }

  /** Actors and everything else that belongs to the leader itself. */
  get permitsAdmin(): boolean {
    return this.port.access?.permits('admin', 'leader.admin') ?? true;
  }

  addReceipt(receipt: Receipt): void {
    this.receipts ??= [];
    this.receipts.push(receipt);
  }

  /** Its receipts are written before what is added from now on, also when it is closed. */
  writeReceiptsFirst(): void {
    if (this.receipts !== undefined) this.add({ kind: 'receipts', items: this.receipts });
    this.receipts = undefined;
  }

  addOutcome(outcome: JobOutcome): void {
    if (this.isFull) return this.postpone([outcome]);
    this.outcomes ??= [];
    this.outcomes.push(outcome);
  }

  add(message: ToClient): void {
    this.others ??= [];
    this.others.push(message);
  }

  /** One answer for all heartbeats that came meanwhile. */
  answerHeartbeat(): void {
    if (this.isAnswering) return;
    this.isAnswering = true;
    this.add({ kind: 'heartbeat' });
  }

  /** It does not read its answers. */
  endSlowReader(): void {
    this.port.endSlowReader?.();
  }

  get hasPostponed(): boolean {
    return this.postponed.length > 0;
  }

  takePostponed(): readonly number[] {
    return this.postponed.splice(0, POSTPONED_SLICE);
  }

  /**
   * Receipts before outcomes: a client learns the number of a job before it learns how the job ended. False:
   * there is no room, and the rest is kept. Of a closed session only its refusal is left.
   */
  flush(): boolean {
    if (!this.flushOthers()) return this.keepOutcomes();
    if (this.closed) return true;
    const { receipts, outcomes } = this;
    if (receipts !== undefined) {
      this.receipts = undefined;
      if (this.port.offer({ kind: 'receipts', items: receipts }) === 'full') {
        this.receipts = receipts;
        return this.keepOutcomes();
      }
    }
    if (outcomes !== undefined) {
      this.outcomes = undefined;
      if (this.port.offer({ kind: 'outcomes', items: outcomes }) === 'full') {
        this.outcomes = outcomes;
        return this.keepOutcomes();
      }
    }
    return true;
  }

  private flushOthers(): boolean {
    const { others } = this;
    if (others === undefined) return true;
    this.others = undefined;
    const taken = others.findIndex((message) => this.port.offer(message) === 'full');
    this.others = taken < 0 ? undefined : others.slice(taken);
    this.isAnswering = this.others?.some(({ kind }) => kind === 'heartbeat') === true;
    return taken < 0;
  }

  /** Outcomes that wait are numbers: the ledger holds them anyway. */
  private keepOutcomes(): false {
    const { outcomes } = this;
    this.outcomes = undefined;
    if (outcomes !== undefined) this.postpone(outcomes);
    return false;
  }

  private postpone(outcomes: readonly JobOutcome[]): void {
    for (const { job } of outcomes) this.postponed.push(job);
    if (this.postponed.length > POSTPONED_MAX) this.port.endSlowReader?.();
  }
}
