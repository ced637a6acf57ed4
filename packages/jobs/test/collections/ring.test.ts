import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Ring } from '#src/collections/ring.js';

const ring = suite('ring');

ring('behaves as an array', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('push', 'unshift', 'shift', 'put'), fc.nat(9)));
  void fc.assert(
    fc.property(steps, (all) => {
      const real = new Ring<number>();
      const model: number[] = [];
      for (const [step, value] of all) {
        if (step === 'push') model.push(value);
        if (step === 'unshift') model.unshift(value);
        if (step === 'push') real.push(value);
        if (step === 'unshift') real.unshift(value);
        if (step === 'shift') assert.is(real.shift(), model.shift());
        if (step === 'put' && value < model.length) {
          model[value] = -1;
          real.put(value, -1);
        }
        same(real, model);
      }
    }),
  );
});

function same(real: Ring<number>, model: readonly number[]): void {
  assert.is(real.size, model.length);
  assert.is(real.peek(), model[0]);
  assert.ok(model.every((value, i) => real.at(i) === value));
  assert.is(real.at(model.length), undefined);
}

ring('behaves as an array beyond one block, wherever its head is when it grows', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('push', 'unshift', 'shift'), fc.nat(1_500)), {
    maxLength: 12,
  });
  void fc.assert(
    fc.property(steps, (all) => {
      const real = new Ring<number>();
      const model: number[] = [];
      let next = 0;
      for (const [step, count] of all) {
        for (let i = 0; i < count; i += 1, next += 1) {
          if (step === 'push') model.push(next);
          if (step === 'unshift') model.unshift(next);
          if (step === 'push') real.push(next);
          if (step === 'unshift') real.unshift(next);
          if (step === 'shift') assert.is(real.shift(), model.shift());
        }
        same(real, model);
      }
    }),
    { numRuns: 60 },
  );
});

ring('growth moves the values of one block at most', () => {
  const real = new Ring<number>();
  for (let i = 0; i < 1_000; i += 1) real.push(i);
  for (let i = 0; i < 700; i += 1) real.shift();
  for (let i = 1_000; i < 20_000; i += 1) {
    const before = new Map(blocksOf(real).map((block) => [block, block.length]));
    real.push(i);
    const kept = blocksOf(real).filter((block) => before.has(block)).length;
    if (i > 3_000) assert.is(kept, before.size);
  }
  assert.is(real.at(19_299), 19_999);
});

function blocksOf(real: Ring<number>): (number | undefined)[][] {
  const { blocks } = real as unknown as { blocks: ((number | undefined)[] | undefined)[] };
  return blocks.filter((block) => block !== undefined);
}

ring.run();
