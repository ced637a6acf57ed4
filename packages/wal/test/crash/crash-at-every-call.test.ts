// timeout: 240s
// B4, B5, B6, B11, B13, B21: whatever call a crash comes before or after, and whatever the disk did with
// writes that were not synced, everything acknowledged is there afterwards and nothing else is.

import {
  PERSISTENCE_MODELS,
  type PersistenceModel,
  type SimulatedDisk,
  type StorageCall,
} from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertAppendable, assertNothingLost, type Expected, recover } from './recovery-checks.js';
import { Workload } from './workload.js';

const crashes = suite('crash at every call');

interface CrashPoint {
  readonly where: string;
  readonly disk: SimulatedDisk;
  readonly expected: Expected;
}

/** Runs the workload once and calls back with every disk a crash could have left, one at a time. */
function eachCrash(models: readonly PersistenceModel[], visit: (point: CrashPoint) => void): number {
  let points = 0;
  const capture = (call: StorageCall, when: 'before' | 'after'): void => {
    for (const [index, model] of models.entries()) {
      const disk = workload.harness.storage.disk.afterCrash(
        model,
        call.index * 64 + index * 2 + (when === 'after' ? 1 : 0),
      );
      const { digests, acknowledged } = workload;
      const where = `crash ${when} call ${call.index} (${call.operation} ${call.name}), model ${model}`;
      visit({ where, disk, expected: { digests, acknowledged } });
      points += 1;
    }
  };
  const workload = new Workload({
    fault: (call) => {
      capture(call, 'before');
      return undefined;
    },
    afterCall: (call) => capture(call, 'after'),
  });
  workload.run();
  assert.is(workload.acknowledged, workload.appended, 'the workload itself ends well');
  return points;
}

for (const model of PERSISTENCE_MODELS) {
  crashes(`nothing acknowledged is lost, nothing else appears: unsynced writes ${model}`, () => {
    let tails = 0;
    const points = eachCrash([model], ({ where, disk, expected }) => {
      const recovered = recover(disk);
      assertNothingLost(recovered.state, expected, where);
      if (recovered.harness.events.some(({ kind }) => kind === 'torn-tail')) tails += 1;
    });
    assert.ok(points > 1_200, `only ${points} crash points`);
    // The test has power only if the models do leave torn tails behind.
    if (model === 'tear' || model === 'garbage' || model === 'reorder')
      assert.ok(tails > 2, `${tails} torn tails`);
    if (model === 'drop' || model === 'keep') assert.is(tails, 0);
  });
}

crashes('a log that was recovered takes records and keeps them over a clean shutdown', () => {
  let turn = 0;
  eachCrash(PERSISTENCE_MODELS, ({ where, disk, expected }) => {
    turn += 1;
    if (turn % 17 !== 0) return;
    const recovered = recover(disk);
    assertNothingLost(recovered.state, expected, where);
    assertAppendable(recovered, where);
  });
});

crashes.run();
