import type { LayoutFields } from '@troupe/core';
import { LayoutCodec } from './layout-codec.js';

/** The layouts that one writer has used: a reader gets the fields of each once. */
export class LayoutTable {
  /** By number: what the reader knows. */
  readonly known: LayoutCodec[] = [];
  private readonly numbers = new Map<LayoutFields, number>();
  /** Most payloads of a stream have the same layout. */
  private last: LayoutFields | undefined = undefined;
  private lastNumber = -1;

  /** Below 0: one that the reader does not know. */
  numberOf(fields: LayoutFields): number {
    if (fields === this.last) return this.lastNumber;
    const number = this.numbers.get(fields) ?? -1;
    if (number < 0) return number;
    this.last = fields;
    this.lastNumber = number;
    return number;
  }

  learn(fields: LayoutFields): LayoutCodec {
    const codec = new LayoutCodec(fields);
    this.numbers.set(fields, this.known.push(codec) - 1);
    return codec;
  }

  /** The record with the latest layouts was not written. */
  forgetAfter(count: number): void {
    for (const { fields } of this.known.splice(count)) this.numbers.delete(fields);
    this.last = undefined;
  }
}
