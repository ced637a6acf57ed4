// timeout: 120s
// A damaged directory opens with every acknowledged record or is refused, for every kind of damage.
// `npm run damage -- --minutes 5` runs more directories.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DAMAGE_KINDS } from './damage-kinds.js';
import { DamageTable } from './damage-table.js';

const damage = suite('damage');
const ROUNDS = 25;

damage('a damaged directory opens with every acknowledged record or is refused', () => {
  const table = new DamageTable();
  for (let seed = 1; seed <= ROUNDS; seed += 1) table.addRound(seed);
  assert.equal(table.losses, []);
  assert.equal([...table.counts.keys()].sort(), Object.keys(DAMAGE_KINDS).sort(), 'every kind was tried');
  assert.ok(table.withSnapshots > 5 && table.withSnapshots < ROUNDS, `${table.withSnapshots} with snapshots`);
  assert.ok(table.withLines > 5 && table.withLines < ROUNDS, `${table.withLines} of lines`);
  assert.ok((table.counts.get('all batches of the open segment zeroed')?.refused ?? 0) > 0);
  assert.ok((table.counts.get('newest snapshot damaged')?.['recovered-all'] ?? 0) > 0);
  assert.ok((table.counts.get('flipped bit in a blob')?.['blob-refused'] ?? 0) > 0);
});

damage.run();
