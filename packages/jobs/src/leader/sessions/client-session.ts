import type { Job, StoredPolicy } from '../../ledger/job.js';
import type { JobOutcome, Receipt, ToClient } from '../../protocol/client-messages.js';
import type { PeerAccess } from '../../protocol/leader-interface.js';
import { type Numbering, UNNUMBERED } from '../submit/uncommitted-jobs.js';

/** Where a session's messages go. A connection, or an actor of the same process. */
export interface ClientPort {
  readonly access?: PeerAccess | undefined;
  write(message: ToClient): void;
}

/**
 * One connection of one client. What it is told collects here during a turn and leaves in one message each. Identity is this
 * object, not the client's name: an old connection's end cannot touch a new one (A13, A35).
 */
export class ClientSession {
  readonly kind = 'client';
  readonly client: string;
  readonly token: string;
  readonly refs = new Map<number, StoredPolicy>();
  /** Definitions whose group this client may not submit to. */
  readonly forbidden = new Set<number>();
  /** Definitions for which there was no room when they were announced. */
  readonly unplaced = new Set<number>();
  numbers: Numbering = UNNUMBERED;
  closed = false;
  /** In the leader's list of sessions that have something to send. */
  dirty = false;
  private readonly port: ClientPort;
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
    return access.permits(action, `job.${action}.${job.policy.group}`);
  }

  /** Counts and workers are nobody's jobs: who may look at them is a rule of its own. */
  get maySeeLeader(): boolean {
    return this.port.access?.permits('observe', 'leader.observe') ?? true;
  }

  receipt(receipt: Receipt): void {
    this.receipts ??= [];
    this.receipts.push(receipt);
  }

  outcome(outcome: JobOutcome): void {
    this.outcomes ??= [];
    this.outcomes.push(outcome);
  }

  say(message: ToClient): void {
    this.rest ??= [];
    this.rest.push(message);
  }

  /** Receipts before outcomes: a client learns the number of a job before it learns how the job ended. */
  flush(): void {
    this.dirty = false;
    if (this.closed) return;
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
}
