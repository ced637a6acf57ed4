// timeout: 240s
// Recovery can itself be cut short at every call, and again: it always leads to the same records.

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

const second = suite('second crash');

interface FirstCrash {
  readonly where: string;
  readonly disk: SimulatedDisk;
  readonly expected: Expected;
}

/** Every `step`-th call of the workload, each with another model. */
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

second('a crash at every call of the recovery changes nothing', () => {
  let points = 0;
  for (const first of firstCrashes(13)) {
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
      performed: (call: StorageCall) => capture(call, 'after'),
    };
    const disk = first.disk;
    const harness = (): { storage: { disk: SimulatedDisk } } => ({ storage: { disk } });
    const { state } = recover(disk, recovering);
    assertNothingLost(state, first.expected, first.where);
  }
  assert.ok(points > 3_000, `only ${points} second crashes`);
});

second('ten crashes in a row, each in the middle of the recovery before it, change nothing', () => {
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

second.run();
