import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findNotCloneable } from '#src/thread/find-not-cloneable.js';

const paths = suite('field that cannot be cloned');

const cyclic: { self?: unknown; run: () => void } = { run: () => undefined };
cyclic.self = cyclic;

const values: readonly [name: string, value: unknown, path: string][] = [
  ['a function itself', () => 1, 'args'],
  ['a field of an object in an array', [1, { rows: [{}, { format: () => 1 }] }], 'args[1].rows[1].format'],
  ['a value of a map', new Map([['a', Symbol('x')]]), 'args.get(a)'],
  ['an element of a set', new Set([() => 1]), 'args.values()'],
  ['a cyclic object', cyclic, 'args.run'],
];

for (const [name, value, path] of values) {
  paths(`the path of ${name} is found`, () => {
    const error = findNotCloneable(value, 'args', new Error('refused'));
    assert.is(error.path, path);
    assert.is(error.code, 'ERR_NOT_CLONEABLE');
  });
}

paths.run();
