// Hot path: `add` runs once per chunk.
import type { JobDefinition } from '../../job/definition/define-job.js';
import { NonRetryableError } from '../../jobs-error.js';

type Join = (chunks: readonly never[]) => unknown;

/** Makes the output of a stream of its chunks (`collect` of the definition). */
export class ChunkCollector {
  private readonly definition: JobDefinition;
  private readonly bytesMax: number;
  private bytes = 0;
  /** The value that `collect` has made so far. */
  private value: unknown = undefined;
  private readonly chunks: unknown[] = [];
  private join: Join | undefined = undefined;

  constructor(definition: JobDefinition, bytesMax: number) {
    this.definition = definition;
    this.bytesMax = bytesMax;
  }

  add(chunk: unknown, bytes: number): void {
    const { collect } = this.definition;
    if (collect === false) return;
    if (collect !== undefined) {
      // The definition's own chunks.
      this.value = collect(this.value, chunk as never);
      return;
    }
    this.bytes += bytes;
    // Quotes and commas of the chunks stand for those of the output.
    if (this.bytes > 2 * this.bytesMax + 1_024)
      throw new NonRetryableError(`collected chunks of ${this.bytes} bytes, at most ${this.bytesMax}`);
    if (this.chunks.length === 0) this.join = joinOf(chunk);
    else if (this.join !== asList && this.join !== joinOf(chunk)) this.join = asList;
    this.chunks.push(chunk);
  }

  get isEmpty(): boolean {
    return this.join === undefined;
  }

  /** Without a chunk: undefined. */
  get collected(): unknown {
    return this.join === undefined ? this.value : this.join(this.chunks as never[]); // all of one kind
  }
}

/** Texts and bytes are joined while every chunk is one. */
function joinOf(chunk: unknown): Join {
  if (typeof chunk === 'string') return joinTexts;
  return chunk instanceof Uint8Array ? joinBytes : asList;
}

function joinTexts(texts: readonly string[]): string {
  return texts.join('');
}

function joinBytes(all: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(all));
}

function asList(chunks: readonly unknown[]): readonly unknown[] {
  return chunks;
}
