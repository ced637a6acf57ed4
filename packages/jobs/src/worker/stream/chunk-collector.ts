import type { JobDefinition } from '../../job/define-job.js';
import { NonRetryableError } from '../../jobs-error.js';

/** Makes the output of a stream of its chunks (`collect` of the definition). */
export class ChunkCollector {
  private readonly definition: JobDefinition;
  private readonly bytesMax: number;
  private bytes = 0;
  private value: unknown = undefined;
  private texts: string[] | undefined = undefined;
  private values: unknown[] | undefined = undefined;

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
    this.append(chunk);
  }

  get collected(): unknown {
    if (this.texts !== undefined) return this.texts.join('');
    return this.values ?? this.value;
  }

  /** Texts are joined while every chunk is one. */
  private append(chunk: unknown): void {
    if (this.values !== undefined) this.values.push(chunk);
    else if (typeof chunk !== 'string') {
      this.values = [...(this.texts ?? []), chunk];
      this.texts = undefined;
    } else {
      this.texts ??= [];
      this.texts.push(chunk);
    }
  }
}
