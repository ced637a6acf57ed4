// Hot path: `next` runs once per chunk, with one promise where the chunk is here.
import type { JobChunk, JobDefinition } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadValue } from '../../job/payload/payload.js';
import { StreamRefusedError } from '../../jobs-error.js';
import type { StreamItem, StreamPosition } from '../../protocol/stream-messages.js';
import type { ItemQueue } from './item-queue.js';
import type { OpenReader } from './reader-table.js';

type Result<T> = IteratorResult<T, void>;

/** The steps of a stream beside its chunks. */
export type StreamEvent = Exclude<StreamItem, { readonly kind: 'data' | 'refused' }>;

const END: Result<never> = { done: true, value: undefined };

interface ChunkRun {
  readonly attempt: number;
  readonly first: number;
  readonly chunks: readonly Payload[];
}

const NO_RUN: ChunkRun = { attempt: 0, first: 0, chunks: [] };

/**
 * Walks over the items of a reader. A class in place of an async generator: a chunk that is here costs one
 * promise instead of several.
 */
export abstract class ItemIterator<D extends JobDefinition, T> implements AsyncGenerator<T, void, void> {
  protected readonly definition: D;
  protected readonly id: string;
  private readonly open: () => OpenReader;
  /** From the first call of `next` on: a stream that is never iterated is not read. */
  private reader: OpenReader | undefined = undefined;
  private readonly signal: AbortSignal | undefined;
  /** Chunks that are here are dropped. */
  private readonly abort = (): void => {
    this.run = { ...this.run, chunks: this.run.chunks.slice(0, this.at) };
    this.reader?.items.abort(this.signal?.reason as Error);
  };
  private run = NO_RUN;
  private at = 0;
  private isDone = false;
  /** The call before, while it waits. */
  private waiting: Promise<Result<T>> | undefined = undefined;

  constructor(definition: D, id: string, open: () => OpenReader, signal: AbortSignal | undefined) {
    this.definition = definition;
    this.id = id;
    this.open = open;
    this.signal = signal;
  }

  /** One chunk, after its schema. */
  protected abstract chunk(value: JobChunk<D>, attempt: number, offset: number): T;

  /** Undefined: it is passed over. */
  protected abstract event(event: StreamEvent): T | undefined | Promise<T | undefined>;

  /** The position behind the last chunk. */
  protected get position(): StreamPosition {
    const { attempt, first } = this.run;
    return { attempt, offset: first + this.at };
  }

  next(): Promise<Result<T>> {
    if (this.waiting !== undefined) return this.nextAfter(this.waiting);
    try {
      const now = this.step();
      if (now !== undefined && !(now instanceof Promise)) return Promise.resolve(now);
      return this.remember(now ?? this.stepLater());
    } catch (error) {
      return this.fail(error);
    }
  }

  /** Stops reading; the job goes on. */
  return(): Promise<Result<T>> {
    this.stop();
    return Promise.resolve(END);
  }

  throw(error: unknown): Promise<Result<T>> {
    return this.fail(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  private nextAfter(before: Promise<Result<T>>): Promise<Result<T>> {
    return this.remember(
      before.then(
        () => this.next(),
        () => this.next(),
      ),
    );
  }

  private remember(result: Promise<Result<T>>): Promise<Result<T>> {
    const waiting = result.then(
      (value) => {
        if (this.waiting === waiting) this.waiting = undefined;
        return value;
      },
      (error: unknown) => {
        if (this.waiting === waiting) this.waiting = undefined;
        return this.fail(error);
      },
    );
    this.waiting = waiting;
    return waiting;
  }

  private async stepLater(): Promise<Result<T>> {
    for (;;) {
      await this.reader?.items.changed();
      const result = this.step();
      if (result !== undefined) return result;
    }
  }

  private start(): OpenReader {
    const { signal } = this;
    signal?.throwIfAborted();
    signal?.addEventListener('abort', this.abort, { once: true });
    this.reader = this.open();
    return this.reader;
  }

  /** Undefined: nothing is here. */
  private step(): Result<T> | Promise<Result<T>> | undefined {
    if (this.isDone) return END;
    const { items } = this.reader ?? this.start();
    if (this.at < this.run.chunks.length) return this.nextChunk(items);
    const item = items.take();
    if (item === undefined) return undefined;
    if (item.kind === 'refused') throw new StreamRefusedError(this.id, item.status, item.problem);
    if (item.kind === 'data') {
      this.run = item;
      this.at = 0;
      return this.nextChunk(items);
    }
    return this.passEvent(item);
  }

  private nextChunk(items: ItemQueue): Result<T> | Promise<Result<T>> {
    const { run, definition } = this;
    const payload = run.chunks[this.at] as Payload; // at < length
    const offset = run.first + this.at;
    this.at += 1;
    items.consumed(payload.length, run.attempt, offset);
    const value = payloadValue(payload);
    const { exec, chunk: schema } = definition;
    const checked = schema === undefined ? value : validateBySchema(exec, 'chunk', schema, value);
    // The chunk schema of this definition has checked it.
    const resultOf = (chunk: unknown): Result<T> => ({
      done: false,
      value: this.chunk(chunk as JobChunk<D>, run.attempt, offset),
    });
    return checked instanceof Promise ? checked.then(resultOf) : resultOf(checked);
  }

  private async passEvent(event: StreamEvent): Promise<Result<T>> {
    if (event.kind === 'reset') this.run = { attempt: event.attempt, first: 0, chunks: [] };
    else if (event.kind === 'gap')
      this.run = { attempt: event.attempt, first: event.to ?? event.from, chunks: [] };
    if (event.kind !== 'end') this.at = 0;
    const value = await this.event(event);
    if (value !== undefined) return { done: false, value };
    if (event.kind === 'end') this.stop();
    return this.step() ?? this.stepLater();
  }

  /** The last item has been given. */
  protected stop(): void {
    this.isDone = true;
    this.signal?.removeEventListener('abort', this.abort);
    this.reader?.stop();
  }

  private fail(error: unknown): Promise<never> {
    this.stop();
    return Promise.reject(error as Error);
  }
}
