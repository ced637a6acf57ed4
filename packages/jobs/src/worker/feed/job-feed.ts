import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JobDefinition } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadValue } from '../../job/payload/payload.js';
import type { Attempt } from '../attempt/attempt.js';

/** The items that clients feed to a job, in order. An item is taken once; a second loop goes on behind it. */
export interface JobFeed<Item> extends AsyncIterable<Item> {
  /** True once it has ended because no client had it open for `feedGraceMs`, and not by a client. */
  readonly isAbandoned: boolean;
}

/** The feed of one attempt. Of one that clients do not feed it has ended. */
export class AttemptFeed implements JobFeed<unknown>, AsyncIterator<unknown, undefined> {
  private readonly attempt: Attempt;
  private readonly exec: string;
  private readonly schema: StandardSchemaV1 | undefined;

  constructor(attempt: Attempt, { exec, feed }: JobDefinition) {
    this.attempt = attempt;
    this.exec = exec;
    this.schema = feed;
  }

  get isAbandoned(): boolean {
    return this.attempt.feed?.end === 'abandoned';
  }

  /** Without `return`: a loop that is left early does not end the feed. */
  [Symbol.asyncIterator](): AsyncIterator<unknown, undefined> {
    return this;
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    const item = await this.take();
    return item === undefined
      ? { done: true, value: undefined }
      : { done: false, value: await this.check(item) };
  }

  private take(): Promise<Payload | undefined> | undefined {
    const { feed } = this.attempt;
    if (feed === undefined || feed.isReady) return feed?.next();
    return this.attempt.withoutSilence(feed.next());
  }

  /** A client of another language has not checked it. */
  private check(item: Payload): unknown {
    const value = payloadValue(item);
    return this.schema === undefined ? value : validateBySchema(this.exec, 'feed', this.schema, value);
  }
}
