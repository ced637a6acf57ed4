// timeout: 240s
// A crash before or after every storage call, with every model of unsynced writes: all acknowledged records
// are recovered, and none that was not appended.

import type { CodecName } from '@troupe/wal';
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

/** Runs the workload once and visits every disk that a crash could leave. */
function eachCrash(
  models: readonly PersistenceModel[],
  visit: (point: CrashPoint) => void,
  codec?: CodecName,
): number {
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
    codec,
    fault: (call) => {
      capture(call, 'before');
      return undefined;
    },
    afterCall: (call) => capture(call, 'after'),
  });
  workload.run();
  assert.is(workload.acknowledged, workload.appended, 'the workload completes');
  return points;
}

for (const model of PERSISTENCE_MODELS) {
  crashes(`no acknowledged record is lost by a crash at any call: unsynced writes ${model}`, () => {
    let tails = 0;
    const points = eachCrash([model], ({ where, disk, expected }) => {
      const recovered = recover(disk);
      assertNothingLost(recovered.state, expected, where);
      if (recovered.harness.events.some(({ kind }) => kind === 'torn-tail')) tails += 1;
    });
    assert.ok(points > 1_200, `only ${points} crash points`);
    // These models must leave torn batches, or the test would prove little.
    if (model === 'tear' || model === 'garbage' || model === 'reorder')
      assert.ok(tails > 2, `${tails} torn batches`);
    if (model === 'drop' || model === 'keep') assert.is(tails, 0);
  });
}

crashes('no acknowledged record of a log of lines is lost by a crash at any call', () => {
  let tails = 0;
  let turn = 0;
  const points = eachCrash(
    PERSISTENCE_MODELS,
    ({ where, disk, expected }) => {
      turn += 1;
      // Each call with another model than the one before it.
      if (turn % (PERSISTENCE_MODELS.length + 1) !== 0) return;
      const recovered = recover(disk);
      assertNothingLost(recovered.state, expected, where);
      if (recovered.harness.events.some(({ kind }) => kind === 'torn-tail')) tails += 1;
    },
    'jsonl',
  );
  assert.ok(points > 1_200, `only ${points} crash points`);
  assert.ok(tails > 2, `${tails} torn batches`);
});

crashes('a recovered log accepts a record and keeps it over a clean shutdown', () => {
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
