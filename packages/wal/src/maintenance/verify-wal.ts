// Checks whether a directory would open and whether any file in it is damaged. Changes nothing.

import { findStore } from '../recovery/find-store.js';
import { type Coroutine, promiseOf, runCoroutine } from '../storage/coroutine.js';
import { storageOf } from '../storage/node-storage.js';
import type { Storage } from '../storage/storage.js';
import { type Damage, WalCorruptError } from '../wal-error.js';
import { scrub } from './scrub.js';

export interface VerifyReport {
  /** True if the log opens and nothing in it is damaged. */
  readonly ok: boolean;
  readonly firstLsn: number;
  readonly lastLsn: number;
  readonly epoch: number;
  readonly segments: number;
  readonly snapshotLsn: number | undefined;
  readonly wasClean: boolean;
  /** Bytes of a torn batch, which opening moves to quarantine/. */
  readonly tornBytes: number;
  readonly damage: readonly Damage[];
  readonly losses: readonly { readonly from: number; readonly to: number }[];
}

/** For a directory that no process has open. */
export function verifyWal(dir: string | Storage): Promise<VerifyReport> {
  return promiseOf((done) => runCoroutine(verify(storageOf(dir)), done));
}

function* verify(storage: Storage): Coroutine<VerifyReport> {
  try {
    const found = yield* findStore(storage, () => undefined);
    if (found === undefined) return { ...EMPTY_REPORT, ok: true };
    const { manifest, end } = found;
    const { damage } = yield* scrub(storage, manifest);
    return {
      ok: damage.length === 0,
      firstLsn: manifest.start.lsn + 1,
      lastLsn: end.position.lsn,
      epoch: manifest.epoch,
      segments: manifest.segments.length,
      snapshotLsn: found.snapshot?.lsn,
      wasClean: manifest.clean !== undefined,
      tornBytes: end.torn === undefined ? 0 : end.torn.end - end.torn.offset,
      damage,
      losses: manifest.losses,
    };
  } catch (error) {
    if (!(error instanceof WalCorruptError)) throw error;
    return { ...EMPTY_REPORT, damage: [error.damage] };
  }
}

const EMPTY_REPORT: VerifyReport = {
  ok: false,
  firstLsn: 1,
  lastLsn: 0,
  epoch: 0,
  segments: 0,
  snapshotLsn: undefined,
  wasClean: false,
  tornBytes: 0,
  damage: [],
  losses: [],
};
