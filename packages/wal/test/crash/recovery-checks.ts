// Checks of a disk after a crash against the appends and acknowledgements before it.

import { inlineSnapshotBuilder, type Log } from '@troupe/wal';
import type { FaultyStorageOptions, SimulatedDisk } from '@troupe/wal/testing';
import * as assert from 'uvu/assert';
import { type DigestState, digestFold } from '../digest-fold.js';
import { LogHarness } from '../log-harness.js';

export interface Expected {
  readonly digests: readonly string[];
  readonly acknowledged: number;
}

export interface Recovered {
  readonly harness: LogHarness;
  readonly log: Log;
  readonly state: DigestState;
}

/** Opens the disk and restores its state. */
export function recover(
  disk: SimulatedDisk,
  options: FaultyStorageOptions & { seed?: number } = {},
): Recovered {
  const harness = new LogHarness({ seed: 99, ...options, disk });
  const snapshotBuilder = inlineSnapshotBuilder(harness.storage, digestFold);
  const log = harness.open({ snapshotBuilder, snapshotEveryBytes: 0 });
  const state = harness.wait<DigestState>((done) => log.restore(digestFold, done));
  return { harness, log, state };
}

/** The state is that after n appends, with n between the acknowledged and the appended records. */
export function assertNothingLost(state: DigestState, expected: Expected, where: string): void {
  assert.ok(
    state.count >= expected.acknowledged,
    `${where}: ${expected.acknowledged} acknowledged, ${state.count} recovered`,
  );
  assert.ok(
    state.count < expected.digests.length,
    `${where}: ${state.count} recovered, ${expected.digests.length - 1} appended`,
  );
  assert.is(
    state.digest,
    expected.digests[state.count],
    `${where}: the state is not the one after ${state.count} records`,
  );
}

/** The recovered log accepts a record and keeps it over a clean shutdown. */
export function assertAppendable({ harness, log, state }: Recovered, where: string): void {
  let acked = 0;
  const lsn = log.append(Buffer.from('after'), (error, durable) => {
    acked = error === null ? durable : 0;
  });
  harness.settle();
  assert.is(lsn, state.lastLsn + 1, `${where}: the next lsn`);
  assert.is(acked, lsn, `${where}: the next record is acknowledged`);
  harness.wait<void>((done) => log.close(done));
  const again = recover(harness.storage.disk);
  assert.is(again.state.count, state.count + 1, `${where}: records after a clean reopen`);
}
