// The verdict on a disk after a crash, computed from what the outside world knew.

import { inlineSnapshotBuilder, type Log } from '@troupe/wal';
import type { FaultyStorageOptions, SimulatedDisk } from '@troupe/wal/testing';
import * as assert from 'uvu/assert';
import { type TextState, textFold } from '../digest-fold.js';
import { World } from '../log-harness.js';

export interface Known {
  readonly digests: readonly string[];
  readonly acknowledged: number;
}

export interface Recovered {
  readonly world: World;
  readonly log: Log;
  readonly state: TextState;
}

/** Opens the disk and returns the state it holds. */
export function recover(
  disk: SimulatedDisk,
  options: FaultyStorageOptions & { seed?: number } = {},
): Recovered {
  const world = new World({ seed: 99, ...options, disk });
  const snapshotBuilder = inlineSnapshotBuilder(world.storage, textFold);
  const log = world.open({ snapshotBuilder, snapshotEveryBytes: 0 });
  const state = world.wait<TextState>((done) => log.restore(textFold, done));
  return { world, log, state };
}

/**
 * Everything acknowledged is there, nothing is there that was not appended, and the order is the order of the appends:
 * the state is that after n appends, for an n between what was acknowledged and what was appended.
 */
export function assertKept(state: TextState, known: Known, where: string): void {
  assert.ok(
    state.count >= known.acknowledged,
    `${where}: ${known.acknowledged} acknowledged, ${state.count} recovered`,
  );
  assert.ok(
    state.count < known.digests.length,
    `${where}: ${state.count} recovered, ${known.digests.length - 1} appended`,
  );
  assert.is(
    state.digest,
    known.digests[state.count],
    `${where}: the state is not the one after ${state.count} records`,
  );
}

/** After recovery the log is a log like any other: it takes a record, and keeps it over a clean shutdown. */
export function assertGoesOn({ world, log, state }: Recovered, where: string): void {
  let acked = 0;
  const lsn = log.append(Buffer.from('after'), (error, durable) => {
    acked = error === null ? durable : 0;
  });
  world.settle();
  assert.is(lsn, state.lastLsn + 1, `${where}: the next lsn`);
  assert.is(acked, lsn, `${where}: the next record is acknowledged`);
  world.wait<void>((done) => log.close(done));
  const again = recover(world.storage.disk);
  assert.is(again.state.count, state.count + 1, `${where}: records after a clean reopen`);
}
