// timeout: 240s
// Appends, snapshots, trims and closes overlap, and storage calls complete in random order.
//
// Arguments: --seeds N (default 600).

import { SeededRandom } from '@troupe/core/testing';
import { PERSISTENCE_MODELS, type PersistenceModel } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertNothingLost, recover } from './recovery-checks.js';
import { Workload } from './workload.js';

const interleavings = suite('call interleaving');
const at = process.argv.indexOf('--seeds');
const SEEDS = at < 0 ? 600 : Number(process.argv[at + 1]);

interleavings(`after ${SEEDS} random orders of calls all acknowledged records are recovered`, () => {
  let acknowledged = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const workload = new Workload({ seed, shuffle: new SeededRandom(seed) });
    workload.run(new SeededRandom(seed + 1_000_000));
    const { exits } = workload.harness.host;
    assert.equal(exits, [], `seed ${seed}: the log ended`);
    assert.is(workload.acknowledged, workload.appended, `seed ${seed}: all appends are acknowledged`);
    const model = PERSISTENCE_MODELS[seed % PERSISTENCE_MODELS.length] as PersistenceModel;
    const expected = { digests: workload.digests, acknowledged: workload.acknowledged };
    assertNothingLost(
      recover(workload.harness.storage.disk.afterCrash(model, seed)).state,
      expected,
      `seed ${seed}`,
    );
    acknowledged += workload.acknowledged;
  }
  assert.ok(acknowledged > SEEDS * 50, `only ${acknowledged} records`);
});

interleavings('a log closed at a random moment opens again', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new SeededRandom(seed);
    const workload = new Workload({ seed, shuffle: new SeededRandom(seed) });
    workload.open();
    for (let round = random.below(12); round >= 0; round -= 1) {
      workload.append(random.below(6));
      if (random.chance(0.2)) workload.snapshot();
      if (random.chance(0.3)) workload.harness.settle();
      else workload.harness.storage.run(random.below(20));
      workload.harness.host.runDeferred();
    }
    workload.close();
    workload.harness.settle();
    const expected = { digests: workload.digests, acknowledged: workload.appended };
    const recovered = recover(workload.harness.storage.disk);
    assertNothingLost(recovered.state, expected, `seed ${seed}`);
    assert.not.ok(
      recovered.harness.events.some(({ kind }) => kind === 'torn-tail'),
      `seed ${seed}: a torn batch after a clean shutdown`,
    );
  }
});

interleavings.run();
