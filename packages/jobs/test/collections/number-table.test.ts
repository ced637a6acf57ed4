import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NumberTable } from '#src/collections/number-table.js';

const tables = suite('number table');

const keys = fc.oneof(
  fc.integer({ min: 1, max: 60 }),
  fc.integer({ min: 1, max: 60 }).map((n) => n * 4_096),
  fc.integer({ min: 1, max: 20 }).map((n) => n * 2 ** 33),
);

tables('is a map, whatever comes and goes', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('put', 'put', 'take', 'get'), keys), {
    maxLength: 400,
    size: 'max',
  });
  void fc.assert(
    fc.property(steps, (all) => {
      const table = new NumberTable<number>();
      const model = new Map<number, number>();
      all.forEach(([what, key], i) => {
        if (what === 'put') table.put(key, i);
        if (what === 'put') model.set(key, i);
        if (what === 'take') assert.is(table.take(key), model.get(key));
        if (what === 'take') model.delete(key);
        assert.is(table.get(key), model.get(key));
        assert.is(table.size, model.size);
      });
      assert.equal(new Map(table.entries()), model);
    }),
  );
});

tables.run();
