// Hot path: `submit` and the receipts and outcomes of `fromLeader` run once per job.
import type { JobPolicy } from '../../job/definition/job-policy.js';
import { EMPTY_PAYLOAD } from '../../job/payload/payload.js';
import type { StoredPayload } from '../../job/payload/stored-payload.js';
import { ClientClosedError, LeaderChangedError, SessionRefusedError } from '../../jobs-error.js';
import type { ClientMessage, Receipt, ToClient } from '../../protocol/client/client-messages.js';
import type { OpenFeed } from '../../protocol/feed-messages.js';
import { JOB_FEATURES, JOB_PROTOCOL } from '../../protocol/job-protocol.js';
import type { ReadStream, StreamConsumed } from '../../protocol/stream-messages.js';
import { AwaitedOutcomes } from './awaited-outcomes.js';
import type { ClientEffects } from './client-effects.js';
import { type FeedDraft, FeedSenders, type FeedWithdrawal } from './feed-senders.js';
import { type CallRequest, PendingRequests } from './pending-requests.js';
import { StreamReaders } from './stream-readers.js';
import type { SubmitDraft } from './submit-draft.js';
import { SubmitWindow } from './submit-window.js';

export interface ClientMachineSetup {
  readonly client: string;
  readonly token: string;
  /** The tag of the leader's ids, where it is known before the first session. */
  readonly tag?: string | undefined;
  readonly effects: ClientEffects;
}

/** A policy under the number that submits refer to. */
export interface JobDefine {
  readonly ref: number;
  readonly policy: JobPolicy;
}

/** A call that waits for the outcome of a job. */
export interface CallWait {
  readonly call: number;
  readonly job: number;
}

/**
 * The client as a state machine without I/O. Calls are numbers here; their promises are in `Client`. Its
 * inputs are its methods, its outputs {@link ClientEffects}.
 */
export class ClientMachine {
  private readonly setup: ClientMachineSetup;
  private readonly effects: ClientEffects;
  private readonly window = new SubmitWindow((draft, receipt) => this.received(draft, receipt));
  private readonly outcomes: AwaitedOutcomes;
  private readonly requests: PendingRequests;
  private readonly readers: StreamReaders;
  private readonly feeds: FeedSenders;
  private readonly policies = new Map<number, JobPolicy>();
  /** Definitions that the leader had no room for: repeated with the next submit. */
  private readonly refusedRefs = new Set<number>();
  private tag: string;
  private isConnected = false;
  private isEnded = false;

  constructor(setup: ClientMachineSetup) {
    this.setup = setup;
    this.effects = setup.effects;
    this.tag = setup.tag ?? '';
    this.outcomes = new AwaitedOutcomes(setup.effects);
    this.readers = new StreamReaders((message) => this.write(message), setup.effects);
    this.feeds = new FeedSenders((message) => this.write(message), setup.effects);
    this.requests = new PendingRequests((message) => this.write(message), setup.effects);
  }

  connect(): void {
    if (this.isEnded) return;
    const { client, token } = this.setup;
    this.disconnected();
    this.effects.open({ protocol: JOB_PROTOCOL, features: JOB_FEATURES, client, token });
  }

  disconnected(): void {
    this.isConnected = false;
    this.feeds.disconnected();
  }

  define(definitions: readonly JobDefine[]): void {
    for (const { ref, policy } of definitions) {
      this.policies.set(ref, policy);
      this.write({ kind: 'define', ref, policy });
    }
  }

  submit(drafts: readonly SubmitDraft[]): void {
    for (const draft of drafts) {
      if (this.refusedRefs.size > 0 && this.refusedRefs.delete(draft.ref)) this.repeatDefinition(draft.ref);
      this.window.enter(draft);
    }
    this.flush();
  }

  withdraw(drafts: readonly SubmitDraft[]): void {
    for (const draft of drafts) this.window.withdraw(draft);
    this.flush();
  }

  awaitOutcomes(waits: readonly CallWait[]): void {
    const jobs = waits.filter(({ call, job }) => this.outcomes.add(job, call)).map(({ job }) => job);
    if (jobs.length > 0) this.write({ kind: 'await', jobs });
  }

  stopAwaiting(waits: readonly CallWait[]): void {
    for (const { call, job } of waits) this.outcomes.remove(job, call);
  }

  request(request: CallRequest): void {
    this.requests.add(request);
  }

  abandonRequest(call: number): void {
    this.requests.remove(call);
  }

  readStream(request: ReadStream): void {
    this.readers.read(request);
  }

  streamConsumed(position: StreamConsumed): void {
    this.readers.consumed(position);
  }

  stopStream(reader: number): void {
    this.readers.stop(reader);
  }

  openFeed(feed: OpenFeed): void {
    this.feeds.open(feed);
  }

  feed(draft: FeedDraft): void {
    this.feeds.feed(draft);
  }

  withdrawFeed(withdrawal: FeedWithdrawal): void {
    this.feeds.withdraw(withdrawal);
  }

  fromLeader(message: ToClient): void {
    if (this.isEnded) return;
    switch (message.kind) {
      case 'receipts':
        this.window.receipts(message.items);
        return this.flush();
      case 'outcomes':
        return this.outcomes.settleAll(message.items);
      case 'stream_items':
        return this.readers.received(message);
      case 'feed_states':
        return this.feeds.received(message.items);
      case 'answer':
        return this.requests.answered(message.call, message.answer);
      case 'welcome':
        return this.welcomed(message);
      case 'refused':
        return this.refused(message);
      case 'heartbeat':
        return;
      default:
        return message satisfies never;
    }
  }

  /** A file that cannot be read cannot be sent. */
  payloadLost(payload: StoredPayload, error: Error): void {
    this.window.payloadLost(payload, error.message);
    this.flush();
  }

  /** Unanswered submits may or may not have been accepted. */
  close(): void {
    this.write({ kind: 'close' });
    this.end(new ClientClosedError());
  }

  private received(draft: SubmitDraft, receipt: Receipt): void {
    const { refusal, jobs } = receipt;
    if (refusal?.code === 'ERR_POLICIES_FULL') this.refusedRefs.add(draft.ref);
    if (refusal === undefined) {
      // It is on the leader's disk and will not be sent again: the payload need not stay in memory.
      draft.payload = EMPTY_PAYLOAD;
      // The outcome may follow in the next message.
      if (draft.wantsOutcome) this.outcomes.add(jobs[0] as number, draft.call); // one for a single submit
    }
    this.effects.received(draft.call, receipt);
  }

  /** A replaced session starts again; any other would be refused again. */
  private refused(message: ToClient & { kind: 'refused' }): void {
    this.disconnected();
    if (message.code !== 'ERR_SESSION_REPLACED')
      return this.end(new SessionRefusedError(message.code, message.problem));
    this.effects.requestSession();
  }

  private end(error: Error): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.isConnected = false;
    this.outcomes.clear();
    this.requests.clear();
    this.readers.clear();
    this.feeds.clear();
    this.effects.ended(error);
  }

  private welcomed(message: ToClient & { kind: 'welcome' }): void {
    // The same numbers are other jobs there, and a submit that the last leader may have taken must not be
    // taken twice.
    if (this.tag !== '' && this.tag !== message.tag)
      return this.end(new LeaderChangedError(this.tag, message.tag));
    this.isConnected = true;
    this.tag = message.tag;
    this.window.aheadMax = message.outstandingMax;
    this.window.outstandingMax = Math.min(message.outstandingMax, message.inFlightMax ?? Infinity);
    this.effects.welcomed(message);
    // A new session knows no definition yet.
    this.refusedRefs.clear();
    for (const ref of this.policies.keys()) this.repeatDefinition(ref);
    this.window.rewind();
    this.window.refuseLarger(message.payloadBytesMax);
    this.flush();
    const jobs = this.outcomes.jobs();
    if (jobs.length > 0) this.write({ kind: 'await', jobs });
    this.requests.repeat();
    this.readers.welcomed({ canStream: message.features?.includes('streams') === true });
    this.feeds.welcomed({ canFeed: message.features?.includes('feeds') === true });
  }

  private repeatDefinition(ref: number): void {
    const policy = this.policies.get(ref);
    if (policy !== undefined) this.write({ kind: 'define', ref, policy });
  }

  private write(message: ClientMessage): void {
    if (this.isConnected) this.effects.write(message);
  }

  private flush(): void {
    if (this.isConnected) for (const message of this.window.take()) this.effects.write(message);
  }
}
