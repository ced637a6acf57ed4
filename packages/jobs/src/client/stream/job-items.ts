// Hot path: the loops run once per chunk.
import type { JobChunk, JobDefinition, JobOutput } from '../../job/define-job.js';
import { payloadValue } from '../../job/payload.js';
import { validateBySchema } from '../../job/validate-by-schema.js';
import {
  type JobFailure,
  JobUnknownError,
  StreamGapError,
  StreamRefusedError,
  StreamResetError,
} from '../../jobs-error.js';
import type { JobOutcome } from '../../protocol/client-messages.js';
import type { StreamItem, StreamPosition } from '../../protocol/stream-messages.js';
import { outputOf } from '../output-of-outcome.js';
import type { OpenReader } from './reader-table.js';

/** How a job ended, as the last item of its stream. */
export interface JobStreamEnd {
  readonly kind: 'end';
  readonly outcome: 'done' | 'dead' | 'cancelled';
  /** Why it is dead, or why it was cancelled. */
  readonly reason: string;
  readonly failure: JobFailure | undefined;
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
  /** Chunks `from` up to, not including, `to` cannot be replayed; undefined: their number is lost. */
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

interface ReadJob<D extends JobDefinition> {
  readonly definition: D;
  readonly id: string;
  readonly idOf: (job: number) => string;
}

/** Every item of a stream up to its end. */
export async function* jobItems<D extends JobDefinition>(
  job: ReadJob<D>,
  { items, stop }: OpenReader,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobItem<D>, void, void> {
  const abort = (): void => items.fail(signal?.reason as Error);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  try {
    for (;;) {
      const item = await items.next();
      if (item.kind === 'refused') throw new StreamRefusedError(job.id, item.problem);
      if (item.kind === 'end') return yield* endItems(job, item);
      yield item.kind === 'data' ? await dataItem(job.definition, item) : item;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}

/** The chunks alone. The end of a job that is not done is its error. */
export async function* jobChunks<D extends JobDefinition>(
  id: string,
  items: AsyncIterable<JobItem<D>>,
  { onReset, onGap }: ChunksOptions,
  failEnd: (end: JobStreamEnd) => void,
): AsyncGenerator<JobChunk<D>, void, void> {
  for await (const item of items) {
    if (item.kind === 'data') yield item.chunk;
    else if (item.kind === 'reset' && onReset !== 'follow') throw new StreamResetError(id, item.attempt);
    else if (item.kind === 'gap' && onGap !== 'follow')
      throw new StreamGapError(id, item.attempt, item.from, item.to);
    else if (item.kind === 'end') failEnd(item);
  }
}

async function dataItem<D extends JobDefinition>(
  { exec, chunk: schema }: D,
  { kind, attempt, offset, chunk }: StreamItem & { readonly kind: 'data' },
): Promise<JobItem<D>> {
  const value = payloadValue(chunk);
  const checked = schema === undefined ? value : await validateBySchema(exec, 'chunk', schema, value);
  // The chunk schema of this definition has checked it.
  return { kind, attempt, offset, chunk: checked as JobChunk<D> };
}

async function* endItems<D extends JobDefinition>(
  { definition, id, idOf }: ReadJob<D>,
  { streaming, outcome }: StreamItem & { readonly kind: 'end' },
): AsyncGenerator<JobItem<D>, void, void> {
  const { state } = outcome;
  if (state === 'unknown') throw new JobUnknownError(id);
  if (streaming === 'internal' && state === 'done') {
    // The output schema of this definition has checked it.
    const value = (await outputOf(definition, outcome, { idOf })) as JobOutput<D>;
    yield { kind: 'finalCollected', value };
  }
  yield endItem(outcome, state);
}

function endItem({ reason, failure }: JobOutcome, outcome: JobStreamEnd['outcome']): JobStreamEnd {
  return { kind: 'end', outcome, reason, failure };
}
