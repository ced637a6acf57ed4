import type { LayoutFields } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ReaderForms, WriterForms } from '#src/value/forms.js';
import { LayoutCodec } from '#src/value/layout/layout-codec.js';
import { ValueReader } from '#src/value/value-reader.js';
import { ValueWriter } from '#src/value/value-writer.js';

const layouts = suite('layouts');

const PRICE: LayoutFields = [
  ['id', 'uint32'],
  ['price', 'float64'],
  ['isBid', 'boolean'],
  ['symbol', 'text:8'],
];

/** Compiled functions, and the same field by field. */
const codecsOf = (fields: LayoutFields): LayoutCodec[] => [
  new LayoutCodec(fields),
  new LayoutCodec(fields, () => undefined),
];

function copyWith(writer: LayoutCodec, reader: LayoutCodec, payload: unknown): unknown {
  const memory = Buffer.alloc(writer.bytes + 3, 0xee);
  const view = new DataView(memory.buffer, memory.byteOffset, memory.length);
  writer.write(memory, view, 3, payload);
  return reader.read(memory, view, 3);
}

layouts('a payload comes out as it went in, compiled or field by field', () => {
  const payloads = [
    { id: 0, price: -0.5, isBid: true, symbol: '' },
    { id: 2 ** 32 - 1, price: Number.NaN, isBid: false, symbol: 'EURUSD' },
    { id: 7, price: Number.NEGATIVE_INFINITY, isBid: true, symbol: 'ab€d' },
  ];
  for (const writer of codecsOf(PRICE))
    for (const reader of codecsOf(PRICE))
      for (const payload of payloads) assert.equal(copyWith(writer, reader, payload), payload);
});

layouts('every form has its range, and a number outside of it is refused with its field', () => {
  const table: [form: string, fits: number[], not: unknown[]][] = [
    ['int8', [-128, 127], [-129, 128, 0.5, Number.NaN, '1', undefined]],
    ['uint8', [0, 255], [-1, 256]],
    ['int16', [-32_768, 32_767], [-32_769, 32_768]],
    ['uint16', [0, 65_535], [-1, 65_536]],
    ['int32', [-(2 ** 31), 2 ** 31 - 1], [2 ** 31, 1e300]],
    ['uint32', [0, 2 ** 32 - 1], [-1, 2 ** 32]],
    ['float32', [0.5, -1024, Number.POSITIVE_INFINITY], ['x', null]],
    ['float64', [Math.PI, 5e-324, -1e308], [true, {}]],
  ];
  for (const [form, fits, not] of table) {
    for (const codec of codecsOf([['n', form as 'int8']])) {
      for (const n of fits) assert.equal(copyWith(codec, codec, { n }), { n }, `${form} ${n}`);
      for (const n of not)
        assert.throws(
          () => copyWith(codec, codec, { n }),
          (error: { field: string }) => error.field === 'n',
          `${form} ${n}`,
        );
    }
  }
});

layouts('a text is refused beyond its bytes, not its characters', () => {
  for (const codec of codecsOf([['text', 'text:30']])) {
    for (const text of ['x'.repeat(30), 'ü'.repeat(15), '😀'.repeat(7), 'short'])
      assert.equal(copyWith(codec, codec, { text }), { text });
    for (const text of ['x'.repeat(31), 'ü'.repeat(16), 5, undefined])
      assert.throws(() => copyWith(codec, codec, { text }), /its layout has text:30 there/);
  }
});

layouts('a bare value is a layout too, and a field may have any name', () => {
  for (const codec of codecsOf([[undefined, 'float64']])) {
    assert.is(copyWith(codec, codec, 1.25), 1.25);
    assert.throws(() => copyWith(codec, codec, 'x'), /its layout has float64 there, and it is a text/);
  }
  const names: LayoutFields = [
    ['__proto__', 'int8'],
    ['a "b" \n', 'int8'],
  ];
  const payload = JSON.parse('{ "__proto__": 1, "a \\"b\\" \\n": 2 }') as object;
  for (const codec of codecsOf(names))
    assert.equal(Object.entries(copyWith(codec, codec, payload) as object), Object.entries(payload));
  for (const codec of codecsOf(PRICE)) assert.throws(() => copyWith(codec, codec, null), /an object there/);
});

const refs = {
  isRef: () => false,
  exportRef: (): never => {
    throw new Error('a layout has no refs');
  },
  importRef: (): never => {
    throw new Error('a layout has no refs');
  },
};

layouts('the reader of a stream gets a layout once, and a refused payload leaves no trace', () => {
  const [writer, reader] = [new ValueWriter(refs), new ValueReader(refs)];
  const [forms, formsIn] = [new WriterForms(), new ReaderForms()];
  const sizes: number[] = [];
  const copy = (payload: unknown): unknown => {
    writer.useScratch(writer, forms);
    try {
      writer.writeLaidOut(payload, 'payload', PRICE);
    } catch (error) {
      writer.abandon();
      throw error;
    }
    sizes.push(writer.written.length);
    reader.useBytes(Uint8Array.prototype.slice.call(writer.written), formsIn, []);
    return reader.readValue();
  };
  const good = { id: 1, price: 2.5, isBid: false, symbol: 'X' };
  assert.throws(
    () => copy({ ...good, symbol: 'much too long' }),
    (error: { code: string; path: string }) =>
      error.code === 'ERR_NOT_CLONEABLE' && error.path === 'payload.symbol',
  );
  assert.equal(copy(good), good);
  assert.equal(copy(good), good);
  assert.throws(() => copy({ ...good, id: -1 }), /payload\.id cannot be passed/);
  assert.equal(copy({ ...good, id: 2 }), { ...good, id: 2 });
  assert.is(sizes[1], 5 + new LayoutCodec(PRICE).bytes);
  assert.ok((sizes[0] as number) > (sizes[1] as number));
});

layouts('a payload for which memory is too small goes on in memory of its own', () => {
  const [writer, reader] = [new ValueWriter(refs), new ValueReader(refs)];
  const forms = new WriterForms();
  const memory = Buffer.alloc(16);
  const payload = { id: 1, price: 1, isBid: true, symbol: '' };
  writer.useMemory(writer, memory, new DataView(memory.buffer, memory.byteOffset, 16), 0, 16, forms);
  writer.writeLaidOut(payload, 'payload', PRICE);
  assert.is(writer.isScratch, true);
  reader.useBytes(Uint8Array.prototype.slice.call(writer.written), new ReaderForms(), []);
  assert.equal(reader.readValue(), payload);
  writer.abandon();
  assert.is(forms.layouts.known.length, 0);
});

layouts.run();
