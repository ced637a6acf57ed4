import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HashRing } from '#src/routing/hash-ring.js';

const ring = suite('hash ring');

const ownerOf = (members: readonly number[], key: string): number => {
  const [first] = new HashRing(members).order(key);
  return members[first as number] as number;
};

ring('every key has exactly one owner', () => {
  void fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 20 }), (key, count) => {
      const members = Array.from({ length: count }, (_, serial) => serial);
      assert.is(ownerOf(members, key), ownerOf(members, key));
      assert.equal(
        [...new HashRing(members).order(key)].sort((a, b) => a - b),
        members,
      );
    }),
    { numRuns: 50 },
  );
});

ring('a member that leaves moves only its own keys', () => {
  const all = [0, 1, 2, 3, 4];
  const rest = [0, 1, 3, 4];
  for (let i = 0; i < 1_000; i += 1) {
    const before = ownerOf(all, `key ${i}`);
    if (before !== 2) assert.is(ownerOf(rest, `key ${i}`), before);
  }
});

ring('keys are spread evenly over the members', () => {
  const counts = [0, 0, 0, 0];
  const hashRing = new HashRing([0, 1, 2, 3]);
  for (let i = 0; i < 10_000; i += 1) {
    const [first] = hashRing.order(i);
    counts[first as number] = (counts[first as number] as number) + 1;
  }
  for (const count of counts) assert.ok(count > 1_250 && count < 5_000, String(counts));
});

ring('a ring without members has no owner', () => {
  assert.equal([...new HashRing([]).order('x')], []);
});

ring.run();
