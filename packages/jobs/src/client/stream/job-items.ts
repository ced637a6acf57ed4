// Hot path: `chunk` runs once per chunk.
import type { JobChunk, JobDefinition, JobOutput } from '../../job/definition/define-job.js';
import type { Trailer } from '../../job/trailer.js';
import {
  JobCancelledError,
  JobFailedError,
  type JobFailure,
  JobUnknownError,
  StreamGapError,
  StreamResetError,
} from '../../jobs-error.js';
import type { JobOutcome } from '../../protocol/client/client-messages.js';
import type { StreamPosition } from '../../protocol/stream-messages.js';
import { outputOf } from '../calls/output-of-outcome.js';
import { ItemIterator, type StreamEvent } from './item-iterator.js';
import type { OpenReader } from './reader-table.js';

/** How a job ended, as the last item of its stream. */
export interface JobStreamEnd {
  readonly kind: 'end';
  readonly outcome: 'done' | 'dead' | 'cancelled';
  /** Why it is dead, or why it was cancelled. */
  readonly reason: string;
  readonly failure: JobFailure | undefined;
  /** The values that its handler has set by `trailer`. */
  readonly metadata: Trailer;
}

/** One item of `job.items()`: `data* → finalCollected? → end`, with `reset` and `gap` where they happen. */
export type JobItem<D extends JobDefinition> =
  | {
      readonly kind: 'data';
      readonly attempt: number;
      readonly offset: number;
      readonly chunk: JobChunk<D>;
    }
  /** Another attempt has begun: chunks of earlier ones are void, and none of them follows. */
  | { readonly kind: 'reset'; readonly attempt: number }
  /**
   * Chunks `from` up to, not including, `to` cannot be replayed. Undefined: their number is lost, because
   * leader and worker have both ended.
   */
  | {
      readonly kind: 'gap';
      readonly attempt: number;
      readonly from: number;
      readonly to: number | undefined;
    }
  /** The collected output; only of a job submitted with `streaming: 'internal'`. */
  | { readonly kind: 'finalCollected'; readonly value: JobOutput<D> }
  | JobStreamEnd;

export interface ItemsOptions {
  /** The next chunk to read. Default: the first of whichever attempt runs. */
  readonly from?: StreamPosition | undefined;
  /** Stops reading; the job goes on. */
  readonly signal?: AbortSignal | undefined;
}

export interface ChunksOptions extends ItemsOptions {
  /** `follow`: goes on with the chunks of the new attempt. Default `error`. */
  readonly onReset?: 'error' | 'follow' | undefined;
  /** `follow`: goes on behind the gap. Default `error`. */
  readonly onGap?: 'error' | 'follow' | undefined;
}

/** The job of a reader, as its handle knows it. */
export interface ReadJob<D extends JobDefinition> {
  readonly definition: D;
  readonly id: string;
  readonly idOf: (job: number) => string;
}

/** Every item of a stream. */
export class JobItems<D extends JobDefinition> extends ItemIterator<D, JobItem<D>> {
  private readonly job: ReadJob<D>;
  private last: JobStreamEnd | undefined = undefined;

  constructor(job: ReadJob<D>, open: () => OpenReader, signal: AbortSignal | undefined) {
    super(job.definition, job.id, open, signal);
    this.job = job;
  }

  override next(): Promise<IteratorResult<JobItem<D>, void>> {
    const { last } = this;
    if (last === undefined) return super.next();
    this.last = undefined;
    return Promise.resolve({ done: false, value: last });
  }

  protected override chunk(chunk: JobChunk<D>, attempt: number, offset: number): JobItem<D> {
    return { kind: 'data', attempt, offset, chunk };
  }

  protected override event(event: StreamEvent): JobItem<D> | Promise<JobItem<D>> {
    return event.kind === 'end' ? this.end(event) : event;
  }

  /** The end behind the collected output is the item of the next call. */
  private async end({ streaming, outcome }: StreamEvent & { readonly kind: 'end' }): Promise<JobItem<D>> {
    const end = endOf(this.id, outcome);
    if (streaming !== 'internal' || end.outcome !== 'done') {
      this.stop();
      return end;
    }
    const value = (await outputOf(this.definition, outcome, this.job)) as JobOutput<D>; // its schema has checked it
    this.stop();
    this.last = end;
    return { kind: 'finalCollected', value };
  }
}

/** The chunks alone. The end of a job that is not done is its error. */
export class JobChunks<D extends JobDefinition> extends ItemIterator<D, JobChunk<D>> {
  private readonly options: ChunksOptions;

  constructor({ definition, id }: ReadJob<D>, open: () => OpenReader, options: ChunksOptions) {
    super(definition, id, open, options.signal);
    this.options = options;
  }

  protected override chunk(chunk: JobChunk<D>): JobChunk<D> {
    return chunk;
  }

  protected override event(event: StreamEvent): undefined {
    const { id } = this;
    const { onReset, onGap } = this.options;
    if (event.kind === 'reset' && onReset !== 'follow') throw new StreamResetError(id, event.attempt);
    if (event.kind === 'gap' && onGap !== 'follow')
      throw new StreamGapError(id, event.attempt, event.from, event.to);
    if (event.kind !== 'end') return undefined;
    const { outcome, reason, failure } = endOf(id, event.outcome);
    if (outcome === 'dead') throw new JobFailedError(id, reason, failure, this.position);
    if (outcome === 'cancelled') throw new JobCancelledError(id, reason, this.position);
    return undefined;
  }
}

function endOf(id: string, { state, reason, failure, metadata }: JobOutcome): JobStreamEnd {
  if (state === 'unknown') throw new JobUnknownError(id);
  return { kind: 'end', outcome: state, reason, failure, metadata: metadataOf(metadata) };
}

/** A worker of another make may have sent anything. */
function metadataOf(text: string | undefined): Trailer {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Trailer) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
