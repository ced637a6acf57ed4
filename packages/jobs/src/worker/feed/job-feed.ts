import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JobDefinition } from '../../job/define-job.js';
import { type Payload, payloadValue } from '../../job/payload.js';
import { validateBySchema } from '../../job/validate-by-schema.js';
import type { FeedQueue } from './feed-queue.js';

/** The items that clients feed to a job, in order. An item is taken once; a second loop goes on behind it. */
export interface JobFeed<Item> extends AsyncIterable<Item> {
  /** True once it has ended because no client had it open for `feedGraceMs`, and not by a client. */
  readonly isAbandoned: boolean;
}

/** The feed of one attempt. Without a queue clients do not feed it, and it has ended. */
export class AttemptFeed implements JobFeed<unknown>, AsyncIterator<unknown, undefined> {
  private readonly queue: FeedQueue | undefined;
  private readonly exec: string;
  private readonly schema: StandardSchemaV1 | undefined;

  constructor(queue: FeedQueue | undefined, { exec, feed }: JobDefinition) {
    this.queue = queue;
    this.exec = exec;
    this.schema = feed;
  }

  get isAbandoned(): boolean {
    return this.queue?.end === 'abandoned';
  }

  /** Without `return`: a loop that is left early does not end the feed. */
  [Symbol.asyncIterator](): AsyncIterator<unknown, undefined> {
    return this;
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    const item = await this.queue?.next();
    return item === undefined
      ? { done: true, value: undefined }
      : { done: false, value: await this.check(item) };
  }

  /** A client of another language has not checked it. */
  private check(item: Payload): unknown {
    const value = payloadValue(item);
    return this.schema === undefined ? value : validateBySchema(this.exec, 'feed', this.schema, value);
  }
}
