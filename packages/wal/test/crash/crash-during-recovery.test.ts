// timeout: 240s
// A crash at every call of a recovery, and repeated crashes: the same records are recovered.

import {
  PERSISTENCE_MODELS,
  type PersistenceModel,
  type SimulatedDisk,
  type StorageCall,
} from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertNothingLost, type Expected, recover } from './recovery-checks.js';
import { Workload } from './workload.js';

const crashes = suite('crash during recovery');

interface FirstCrash {
  readonly where: string;
  readonly disk: SimulatedDisk;
  readonly expected: Expected;
}

/** A crash after every `step`-th call of the workload, with the models in turn. */
function firstCrashes(step: number): FirstCrash[] {
  const found: FirstCrash[] = [];
  const workload = new Workload({
    afterCall: (call) => {
      if (call.index % step !== 0) return;
      const model = PERSISTENCE_MODELS[found.length % PERSISTENCE_MODELS.length] as PersistenceModel;
      const { storage } = workload.harness;
      const { digests, acknowledged } = workload;
      const where = `crash after call ${call.index} (${call.operation} ${call.name}), model ${model}`;
      found.push({
        where,
        disk: storage.disk.afterCrash(model, call.index),
        expected: { digests: [...digests], acknowledged },
      });
    },
  });
  workload.run();
  return found;
}

crashes('a crash at any call of a recovery loses no acknowledged record', () => {
  let points = 0;
  for (const first of firstCrashes(26)) {
    const capture = (call: StorageCall, when: string): void => {
      const model = PERSISTENCE_MODELS[(call.index + points) % PERSISTENCE_MODELS.length] as PersistenceModel;
      const where = `${first.where}; then ${when} call ${call.index} (${call.operation} ${call.name}), model ${model}`;
      const { state } = recover(harness().storage.disk.afterCrash(model, call.index + points));
      assertNothingLost(state, first.expected, where);
      points += 1;
    };
    const recovering = {
      fault: (call: StorageCall) => {
        capture(call, 'before');
        return undefined;
      },
      afterCall: (call: StorageCall) => capture(call, 'after'),
    };
    const disk = first.disk;
    const harness = (): { storage: { disk: SimulatedDisk } } => ({ storage: { disk } });
    const { state } = recover(disk, recovering);
    assertNothingLost(state, first.expected, first.where);
  }
  assert.ok(points > 3_000, `only ${points} crashes during recovery`);
});

crashes('ten crashes in a row, each during recovery, lose no acknowledged record', () => {
  for (const first of firstCrashes(37)) {
    let { disk } = first;
    for (let round = 0; round < 10; round += 1) {
      const at = 5 + round * 7;
      let left: SimulatedDisk | undefined;
      recover(disk, {
        afterCall: (call) => {
          const model = PERSISTENCE_MODELS[round % PERSISTENCE_MODELS.length] as PersistenceModel;
          if (call.index === at) left = disk.afterCrash(model, round);
        },
      });
      disk = left ?? disk.afterCrash('drop', round);
    }
    assertNothingLost(recover(disk).state, first.expected, first.where);
  }
});

crashes.run();
