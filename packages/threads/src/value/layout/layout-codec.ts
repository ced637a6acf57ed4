// Hot path: every payload with a declared layout. No object but the payload that is read.

import type { LayoutFields } from '@troupe/core';
import { compileLayout } from './compiled-layout.js';
import { FieldCodec, UnfitValue } from './field-codec.js';

export type WritePayload = (memory: Buffer, view: DataView, at: number, payload: unknown) => void;
export type ReadPayload = (memory: Buffer, view: DataView, at: number) => unknown;

/** Writes and reads payloads of one layout, each field at its own place. */
export class LayoutCodec {
  readonly fields: LayoutFields;
  /** Of every payload. */
  readonly bytes: number;
  /** There must be room for `bytes` from `at` on. Throws an UnfitValue. */
  readonly write: WritePayload;
  readonly read: ReadPayload;

  /** `compile`: makes functions for exactly these fields; undefined where the process forbids that. */
  constructor(fields: LayoutFields, compile = compileLayout) {
    let bytes = 0;
    const codecs = fields.map(([name, form]) => {
      const codec = new FieldCodec(name, form, bytes);
      bytes += codec.bytes;
      return codec;
    });
    const { write, read } = compile(codecs) ?? interpreted(codecs);
    this.fields = fields;
    this.bytes = bytes;
    this.write = write;
    this.read = read;
  }
}

function interpreted(codecs: readonly FieldCodec[]): { write: WritePayload; read: ReadPayload } {
  const [first] = codecs as [FieldCodec];
  if (first.name === undefined)
    return {
      write: (memory, view, at, payload) => first.write(memory, view, at, payload),
      read: (memory, view, at) => first.read(memory, view, at),
    };
  return {
    write(memory, view, at, payload) {
      if (typeof payload !== 'object' || payload === null)
        throw new UnfitValue(undefined, 'an object', payload);
      for (const codec of codecs)
        codec.write(memory, view, at, (payload as Readonly<Record<string, unknown>>)[codec.name as string]);
    },
    read: (memory, view, at) =>
      Object.fromEntries(codecs.map((codec) => [codec.name, codec.read(memory, view, at)])),
  };
}
