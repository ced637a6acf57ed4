// timeout: 240s
// An error at every storage call, once or for ever: no record is acknowledged that is not on the disk, and a
// failed sync ends the log.

import { type Fault, PERSISTENCE_MODELS, type StorageCall } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertNothingLost, recover } from './recovery-checks.js';
import { Workload } from './workload.js';

const errors = suite('error at every call');

const CALLS = callsWithoutFaults();

function callsWithoutFaults(): readonly StorageCall[] {
  const workload = new Workload();
  workload.run();
  return workload.harness.storage.calls;
}

function runWith(fault: (call: StorageCall) => Fault | undefined): Workload {
  const workload = new Workload({ fault });
  workload.run();
  return workload;
}

/** All acknowledged records are recovered after a crash that follows the error. */
function assertRecoverable(workload: Workload, index: number, where: string): void {
  const model = PERSISTENCE_MODELS[index % PERSISTENCE_MODELS.length] ?? 'drop';
  const { digests, acknowledged } = workload;
  const { state } = recover(workload.harness.storage.disk.afterCrash(model, index));
  assertNothingLost(state, { digests, acknowledged }, `${where}, then a crash, model ${model}`);
}

/** Calls after whose failure the content of the disk is unknown. */
const FATAL_OPERATIONS = new Set(['sync', 'syncDir', 'rename']);

// One of each class at every call; the log treats the others like one of these, so they share the calls.
for (const errnos of [['EIO'], ['ENOSPC'], ['EMFILE', 'EACCES', 'EROFS']] as const) {
  const names = errnos.join(' or ');
  for (const forever of [false, true]) {
    errors(`${names} at every call, ${forever ? 'for ever' : 'once'}, loses no acknowledged record`, () => {
      let ended = 0;
      for (const { index, operation, name } of CALLS) {
        const errno = errnos[index % errnos.length] ?? errnos[0];
        const where = `${errno} at call ${index} (${operation} ${name})`;
        const workload = runWith((call) =>
          call.index === index || (forever && call.index > index) ? { kind: 'error', errno } : undefined,
        );
        const { exits } = workload.harness.host;
        assert.ok(exits.length <= 1 && (exits[0] ?? 74) === 74, `${where}: exits ${exits.join()}`);
        ended += exits.length;
        assertRecoverable(workload, index, where);
      }
      assert.ok(ended > 50, `the log ended only ${ended} times`);
    });
  }
}

errors('after a failed sync or rename the log ends or does not open', () => {
  for (const { index, operation, name } of CALLS) {
    // The rename of an obsolete segment to a spare one may fail.
    if (!FATAL_OPERATIONS.has(operation) || name.includes(' recycled-')) continue;
    let opensFailed = 0;
    const workload = new Workload({
      fault: (call) => (call.index === index ? { kind: 'error', errno: 'EIO' } : undefined),
    });
    const tryOpen = workload.harness.tryOpen.bind(workload.harness);
    workload.harness.tryOpen = (options) => {
      const opened = tryOpen(options);
      if (opened instanceof Error) opensFailed += 1;
      return opened;
    };
    workload.run();
    const snapshotFailed = workload.harness.events.some(({ kind }) => kind === 'snapshot-failed');
    const ended = workload.harness.host.exits.length + opensFailed;
    // A temporary snapshot file that cannot be synced is removed; no manifest lists it yet.
    assert.ok(
      ended === 1 || snapshotFailed,
      `${operation} ${name} at call ${index} failed and the log continued`,
    );
  }
});

for (const bytes of [0, 1, 511, 4_096]) {
  errors(`a short write of ${bytes} bytes is completed or ends the log`, () => {
    for (const { index, operation, name } of CALLS) {
      if (operation !== 'write') continue;
      const where = `short write at call ${index} (${name})`;
      const workload = runWith((call) => (call.index === index ? { kind: 'short', bytes } : undefined));
      assert.equal(workload.harness.host.exits, [], `${where}: the second write completes it`);
      assert.is(workload.acknowledged, workload.appended, where);
      assertRecoverable(workload, index, where);
      const stuck = runWith((call) =>
        call.index >= index && call.operation === 'write' ? { kind: 'short', bytes } : undefined,
      );
      assertRecoverable(stuck, index, `${where}, for ever`);
    }
  });
}

errors.run();
