import type { JobDefinition } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadOfValue } from '../../job/payload/payload.js';
import { FeedRefusedError, JobDefinitionError } from '../../jobs-error.js';
import { FEED_ITEM_BYTES_MAX, type FeedRefusal, type FeedState } from '../../protocol/feed-messages.js';
import { Deferred } from '../calls/deferred.js';

/** The answer to an item of a feed: it is on the leader's disk. */
export interface FeedReceipt {
  readonly accepted: true;
}

export interface FedDraft {
  readonly payload: Payload | undefined;
  readonly final: boolean;
}

/** The feed of one job as this client has it open: the state that the leader last named. */
export class ClientFeed {
  readonly number: number;
  readonly job: number;
  private readonly idOf: (job: number) => string;
  private state: FeedState | undefined = undefined;
  /** No item will be taken any more: the next use opens the feed anew. */
  isOver = false;
  private readonly whenReady = new Deferred();
  /** Items are encoded in the order of their calls, also by a schema that takes its time. */
  private encoded: Promise<unknown> | undefined = undefined;

  constructor(number: number, job: number, idOf: (job: number) => string) {
    this.number = number;
    this.job = job;
    this.idOf = idOf;
    // The promise is for callers that want it; without one its rejection is no error.
    this.whenReady.promise.catch(() => undefined);
  }

  /** Items that the runner has taken. */
  get taken(): number {
    return this.state?.taken ?? 0;
  }

  get ready(): Promise<void> {
    return this.whenReady.promise as Promise<void>;
  }

  changed(state: FeedState): void {
    this.state = state;
    if (state.phase === 'running') this.whenReady.resolve(undefined);
  }

  over({ code, problem, retryAfterMs }: FeedRefusal): void {
    this.failed(new FeedRefusedError(this.idOf(this.job), code, problem, retryAfterMs));
  }

  failed(error: Error): void {
    this.isOver = true;
    this.whenReady.reject(error);
  }

  /** Calls `enter` with the encoded item, after those of earlier calls. Rejects if it does not fit. */
  async encode(
    { exec, feed: schema }: JobDefinition,
    value: unknown,
    final: boolean,
    enter: (draft: FedDraft) => void,
  ): Promise<void> {
    const isChecked = value === undefined || schema === undefined;
    const checked = isChecked ? undefined : validateBySchema(exec, 'feed', schema, value);
    const payload = this.payloadOf(exec, value);
    if (this.encoded === undefined && !(checked instanceof Promise)) return enter({ payload, final });
    const earlier = Promise.allSettled([this.encoded, checked]);
    const done = earlier.then(() => checked).then(() => enter({ payload, final }));
    const turn = Promise.allSettled([done]);
    this.encoded = turn;
    await turn;
    if (this.encoded === turn) this.encoded = undefined;
    return done;
  }

  /** The raw item travels, and the worker's schema transforms it once. */
  private payloadOf(exec: string, value: unknown): Payload | undefined {
    if (value === undefined) return undefined;
    const payload = payloadOfValue(value);
    if (payload === undefined)
      throw new JobDefinitionError(
        `job '${exec}'`,
        `an item of its feed cannot be written as JSON: ${typeof value}`,
      );
    if (payload.length <= FEED_ITEM_BYTES_MAX) return payload;
    const problem = `item of ${payload.length} bytes, at most ${FEED_ITEM_BYTES_MAX}`;
    throw new FeedRefusedError(this.idOf(this.job), 'ERR_PAYLOAD_TOO_LARGE', problem, 0);
  }
}
