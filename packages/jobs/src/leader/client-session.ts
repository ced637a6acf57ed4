import type { Job, Policy } from '../ledger/job.js';
import type { JobOutcome, Receipt, ToClient } from '../protocol/client-messages.js';
import type { PeerAccess } from '../protocol/leader-face.js';
import { type Numbering, UNNUMBERED } from './flight.js';

/** Where a session's messages go. A connection, or an actor of the same process. */
export interface ClientPort {
  readonly access?: PeerAccess | undefined;
  send(message: ToClient): void;
}

/** Receipts that may wait for an outcome to ride with. Far below any window, so that a client never stands still for them. */
const RECEIPTS_HELD_MAX = 32;
/** Larger payloads count against what a client may have in flight until their receipt has left: theirs does not wait (ADR 0087). */
const HELD_PAYLOAD_BYTES_MAX = 4_096;

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
  /** It has receipts that nobody waits for; the leader's beat lets them go at the latest. */
  holding = false;
  private receipts: Receipt[] = [];
  private isUrgent = false;
  private outcomes: JobOutcome[] = [];
  private rest: ToClient[] = [];

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
    this.receipts.push(receipt);
    this.isUrgent = true;
  }

  /** The client waits for the outcome of this one; the receipt may come with it. */
  receiptOfWanted(receipt: Receipt, payloadBytes: number): void {
    this.receipts.push(receipt);
    if (payloadBytes > HELD_PAYLOAD_BYTES_MAX) this.isUrgent = true;
  }

  outcome(outcome: JobOutcome): void {
    this.outcomes.push(outcome);
  }

  say(message: ToClient): void {
    this.rest.push(message);
  }

  /** Held receipts have waited long enough. */
  hurry(): void {
    this.isUrgent = true;
    this.flush();
  }

  /** Receipts before outcomes: a client learns of a job before it learns how it ended. */
  flush(): void {
    this.listed = false;
    const { receipts, outcomes, rest } = this;
    if (this.closed) return;
    this.holding =
      !this.isUrgent &&
      outcomes.length + rest.length === 0 &&
      receipts.length > 0 &&
      receipts.length < RECEIPTS_HELD_MAX;
    if (this.holding) return;
    this.isUrgent = false;
    for (const message of rest) this.port.send(message);
    if (rest.length > 0) this.rest = [];
    if (receipts.length > 0) {
      this.receipts = [];
      this.port.send({ kind: 'receipts', items: receipts });
    }
    if (outcomes.length > 0) {
      this.outcomes = [];
      this.port.send({ kind: 'outcomes', items: outcomes });
    }
  }
}
