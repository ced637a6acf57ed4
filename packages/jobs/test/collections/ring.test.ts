import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Ring } from '#src/collections/ring.js';

const ring = suite('ring');

ring('behaves as an array', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('push', 'unshift', 'shift', 'put', 'keep'), fc.nat(9)));
  void fc.assert(
    fc.property(steps, (all) => {
      const real = new Ring<number>();
      let model: number[] = [];
      for (const [step, value] of all) {
        if (step === 'push') model.push(value);
        if (step === 'unshift') model.unshift(value);
        if (step === 'keep') model = model.filter((one) => one !== value);
        if (step === 'push') real.push(value);
        if (step === 'unshift') real.unshift(value);
        if (step === 'keep') real.keep((one) => one !== value);
        if (step === 'shift') assert.is(real.shift(), model.shift());
        if (step === 'put' && value < model.length) {
          model[value] = -1;
          real.put(value, -1);
        }
        assert.is(real.size, model.length);
        assert.is(real.peek(), model[0]);
        assert.equal(
          model.map((_, i) => real.at(i)),
          model,
        );
      }
    }),
  );
});

ring.run();
