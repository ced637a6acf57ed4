import type { Job, Policy } from '../../ledger/job.js';
import type { JobOutcome, Receipt, ToClient } from '../../protocol/client-messages.js';
import type { PeerAccess } from '../../protocol/leader-interface.js';
import { type Numbering, UNNUMBERED } from '../submit/uncommitted-jobs.js';

/** Where a session's messages go. A connection, or an actor of the same process. */
export interface ClientPort {
  readonly access?: PeerAccess | undefined;
  write(message: ToClient): void;
}

/** Receipts that may wait for their outcome. Far below any window, so that a client never stands still for them. */
const RECEIPTS_HELD_MAX = 128;

/**
 * One connection of one client. What it is told collects here during a turn and leaves in one message each. Identity is this
 * object, not the client's name: an old connection's end cannot touch a new one (A13, A35).
 */
export class ClientSession {
  readonly kind = 'client';
  readonly client: string;
  readonly token: string;
  readonly refs = new Map<number, Policy>();
  /** Definitions whose group this client may not submit to. */
  readonly forbidden = new Set<number>();
  /** Definitions for which there was no room when they were announced. */
  readonly unplaced = new Set<number>();
  numbers: Numbering = UNNUMBERED;
  closed = false;
  /** In the leader's list of sessions that have something to send. */
  listed = false;
  private readonly port: ClientPort;
  /** Jobs whose outcome will be their receipt too, and some that had both since. */
  private held: Job[] = [];
  /** How many of these have no receipt. */
  private heldCount = 0;
  /** Where in the log the latest of them is. */
  private heldLsn = 0;
  // Undefined while there is nothing to say: a list that waits empty grows old (ADR 0144).
  private receipts: Receipt[] | undefined = undefined;
  private outcomes: JobOutcome[] | undefined = undefined;
  private rest: ToClient[] | undefined = undefined;

  constructor(client: string, token: string, port: ClientPort) {
    this.client = client;
    this.token = token;
    this.port = port;
  }

  get producer(): number {
    return this.numbers.producer;
  }

  maySubmit(group: string): boolean {
    return this.port.access?.permits('submit', `job.submit.${group}`) ?? true;
  }

  /** Its own jobs a client may always look at and cancel; what is not allowed looks like what is not there. */
  may(action: 'observe' | 'cancel' | 'admin', job: Job): boolean {
    const { access } = this.port;
    if (access === undefined || (action !== 'admin' && access.owns(job.client))) return true;
    return access.permits(action, `job.${action}.${job.policy.spec.group}`);
  }

  /** Counts and workers are nobody's jobs: who may look at them is a rule of its own. */
  get maySeeLeader(): boolean {
    return this.port.access?.permits('observe', 'leader.observe') ?? true;
  }

  receipt(receipt: Receipt): void {
    this.receipts ??= [];
    this.receipts.push(receipt);
  }

  /** The client waits for the outcome of this one: that is the receipt too, unless it takes longer than a beat (ADR 0139). */
  hold(job: Job, lsn: number): void {
    this.held.push(job);
    this.heldCount += 1;
    this.heldLsn = lsn;
  }

  /** The outcome of one of them is there. */
  release(): void {
    this.heldCount -= 1;
    if (this.heldCount === 0) this.held.length = 0;
  }

  /** It has receipts that nobody waits for; the leader's beat lets them go at the latest. */
  get holding(): boolean {
    return this.heldCount > 0 && !this.closed;
  }

  outcome(outcome: JobOutcome): void {
    this.outcomes ??= [];
    this.outcomes.push(outcome);
  }

  say(message: ToClient): void {
    this.rest ??= [];
    this.rest.push(message);
  }

  /** Held receipts have waited long enough. */
  hurry(): void {
    this.letGo();
    this.flush();
  }

  /** Receipts before outcomes: a client learns of a job before it learns how it ended, or at once. */
  flush(): void {
    this.listed = false;
    if (this.closed) return;
    if (this.heldCount >= RECEIPTS_HELD_MAX) this.letGo();
    // One that takes long must not keep those behind it in memory.
    else if (this.held.length > 2 * RECEIPTS_HELD_MAX)
      this.held = this.held.filter((job) => job.ticket !== 0);
    const { receipts, outcomes, rest } = this;
    if (rest !== undefined) {
      this.rest = undefined;
      for (const message of rest) this.port.write(message);
    }
    if (receipts !== undefined) {
      this.receipts = undefined;
      this.port.write({ kind: 'receipts', items: receipts });
    }
    if (outcomes !== undefined) {
      this.outcomes = undefined;
      this.port.write({ kind: 'outcomes', items: outcomes });
    }
  }

  private letGo(): void {
    const lsn = this.heldLsn;
    for (const job of this.held) {
      const seq = job.ticket;
      if (seq !== 0) this.receipt({ seq, jobs: [job.no], lsn, duplicate: false, refusal: undefined });
      job.ticket = 0;
    }
    this.held.length = 0;
    this.heldCount = 0;
  }
}
