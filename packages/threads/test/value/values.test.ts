import { Failure, isFailure, OptionError, type RemoteRef } from '@troupe/core';
import { SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NotCloneableError } from '#src/thread/thread-errors.js';
import { ReaderForms, WriterForms } from '#src/value/forms.js';
import { ValueReader } from '#src/value/value-reader.js';
import { ValueWriter } from '#src/value/value-writer.js';

const values = suite('values between threads');

class FakeRef {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
}

const refs = {
  isRef: (value: object) => value instanceof FakeRef,
  exportRef: (ref: { readonly path: string }) => ({ path: ref.path }) as RemoteRef,
  importRef: (ref: RemoteRef) => new FakeRef(ref.path) as never,
};

const writer = new ValueWriter(refs);
const reader = new ValueReader(refs);

function copyOf(value: unknown, forms = new WriterForms(), formsIn = new ReaderForms()): unknown {
  writer.useScratch(writer, forms);
  try {
    writer.writeValue(value, 'payload');
  } catch (error) {
    writer.abandon();
    throw error;
  }
  reader.useBytes(Uint8Array.prototype.slice.call(writer.written), formsIn, writer.beside ?? []);
  return reader.readValue();
}

const SAMPLES: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -0,
  127,
  -128,
  128,
  -129,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 31,
  0.1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  'short',
  'äöü ÿ',
  '€uro',
  'x'.repeat(1_000),
  '漢字'.repeat(500),
  'a lone \ud800 surrogate',
  0n,
  -(2n ** 100n),
  new Date(1_234),
  /a+b/gi,
  [],
  [1, 'two', [3]],
  {},
  { a: 1, b: { c: [null, undefined] } },
  Object.fromEntries([['__proto__', 1]]),
  new Map<unknown, unknown>([
    ['k', 1],
    [{ key: 1 }, new Set([1, 'a'])],
  ]),
  new Set([[1], [2]]),
  new Uint8Array([1, 2, 255]),
  new Float64Array([1.5, -2.5]),
  new BigInt64Array([1n, -1n]),
  new DataView(new Uint8Array([1, 2, 3]).buffer),
  new Uint8Array([9, 8, 7]).buffer,
  Object(5),
  Object('boxed'),
];

values('every kind of value that structured clone copies arrives as its copy', () => {
  for (const sample of SAMPLES) {
    const copy = copyOf(sample);
    assert.equal(copy, structuredClone(sample));
    assert.is(Object.is(copy, -0), Object.is(sample, -0));
    assert.is(Object.getPrototypeOf(Object(copy)), Object.getPrototypeOf(Object(structuredClone(sample))));
  }
});

values('seeded random trees arrive as they are, also with shapes learnt before', () => {
  const random = new SeededRandom(42);
  const made = (depth: number): unknown => {
    const kind = Math.floor(random.next() * (depth > 4 ? 2 : 5));
    const count = Math.floor(random.next() * 5);
    if (kind === 0) return Math.floor((random.next() - 0.5) * 2 ** (random.next() * 40));
    if (kind === 1) return SAMPLES[Math.floor(random.next() * SAMPLES.length)];
    if (kind === 2) return Array.from({ length: count }, () => made(depth + 1));
    return Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, made(depth + 1)]));
  };
  const [forms, formsIn] = [new WriterForms(), new ReaderForms()];
  for (let i = 0; i < 500; i += 1) {
    const value = made(0);
    assert.equal(copyOf(value, forms, formsIn), value);
  }
});

values('holes of arrays, shared parts and cycles are kept', () => {
  // biome-ignore lint/suspicious/noSparseArray: the subject of the test
  const holes = copyOf([1, , 3, ,]) as unknown[];
  assert.equal([1 in holes, 3 in holes, holes.length], [false, false, 4]);
  const shared = { n: 1 };
  const copy = copyOf({ a: shared, b: [shared] }) as { a: object; b: object[] };
  assert.is(copy.a, copy.b[0]);
  const cycle: { self?: unknown; many: unknown[] } = { many: Array.from({ length: 30 }, (_, i) => ({ i })) };
  cycle.self = cycle;
  cycle.many.push(cycle.many[17]);
  const back = copyOf(cycle) as typeof cycle;
  assert.is(back.self, back);
  assert.is(back.many[30], back.many[17]);
});

values('errors keep class, code, cause and fields; expected failures stay failures', () => {
  const error = copyOf(new OptionError('size', -1, 'needed more')) as OptionError;
  assert.instance(error, OptionError);
  assert.equal(
    [error.code, error.option, error.value, error.name],
    ['ERR_OPTION', 'size', -1, 'OptionError'],
  );
  const inner = copyOf(new Error('outer', { cause: new TypeError('inner') })) as Error;
  assert.instance(inner.cause, TypeError);
  class Own extends RangeError {
    override name = 'Own';
    readonly detail = 5;
  }
  const own = copyOf(new Own('x')) as Own;
  assert.instance(own, RangeError);
  assert.equal([own.name, own.detail, own.message], ['Own', 5, 'x']);
  const many = copyOf(new AggregateError([new Error('a')], 'many')) as AggregateError;
  assert.is((many.errors[0] as Error).message, 'a');
  const failure = copyOf(new Failure('empty', { left: 0 }));
  assert.is(isFailure(failure) && failure.code, 'empty');
});

values('refs arrive as refs at any depth', () => {
  const copy = copyOf({ list: [new Map([['x', new FakeRef('/deep')]])], own: new FakeRef('/own') });
  const { list, own } = copy as { list: [Map<string, FakeRef>]; own: FakeRef };
  assert.instance(list[0].get('x'), FakeRef);
  assert.is(list[0].get('x')?.path, '/deep');
  assert.is(own.path, '/own');
});

values('a value that cannot be cloned is refused with the path of its field', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [() => 1, 'payload'],
    [{ a: { b: [1, Symbol('s')] } }, 'payload.a.b[1]'],
    [new Map([['key', { f() {} }]]), 'payload.get(key).f'],
    [{ later: Promise.resolve(1) }, 'payload.later'],
    [{ first: new FakeRef('/x'), weak: new WeakMap() }, 'payload.weak'],
  ];
  for (const [value, path] of cases) {
    try {
      copyOf(value);
      assert.unreachable(path);
    } catch (error) {
      assert.instance(error, NotCloneableError);
      assert.is((error as NotCloneableError).path, path);
    }
  }
});

values('shapes of a record that was refused are not taken as known', () => {
  const [forms, formsIn] = [new WriterForms(), new ReaderForms()];
  assert.throws(() => copyOf({ fresh: 1, bad: () => 1 }, forms, formsIn));
  assert.equal(copyOf({ fresh: 1, bad: 2 }, forms, formsIn), { fresh: 1, bad: 2 });
  assert.equal(copyOf({ fresh: 3, bad: 4 }, forms, formsIn), { fresh: 3, bad: 4 });
});

values('objects used as maps do not fill the memory with shapes', () => {
  const [forms, formsIn] = [new WriterForms(), new ReaderForms()];
  for (let i = 0; i < 10_000; i += 1)
    assert.equal(copyOf({ [`k${i}`]: i }, forms, formsIn), { [`k${i}`]: i });
  assert.is(forms.shapes.known.length, 4_096);
  assert.equal(copyOf({ k0: 1 }, forms, formsIn), { k0: 1 });
});

values('a record for which memory is too small goes on in memory of its own', () => {
  const forms = new WriterForms();
  for (const text of ['a', 'longer than the memory that is there', 'x'.repeat(40_000)]) {
    const memory = Buffer.alloc(32);
    const view = new DataView(memory.buffer, memory.byteOffset, 32);
    writer.useMemory(writer, memory, view, 8, 32, new WriterForms());
    writer.writeValue({ text }, 'payload');
    const { isScratch } = writer;
    assert.is(isScratch, text !== 'a');
    const written = isScratch ? writer.written : memory.subarray(8, writer.at);
    reader.useBytes(Uint8Array.prototype.slice.call(written), new ReaderForms(), []);
    assert.equal(reader.readValue(), { text });
  }
  writer.useScratch(writer, forms);
  writer.writeValue({ text: 'learnt' }, 'payload');
  assert.is(forms.shapes.known.length, 1);
  writer.abandon();
  assert.is(forms.shapes.known.length, 0);
});

values.run();
