// Whether a directory would open, and whether everything in it is as it was written. Changes nothing.

import { checkStore } from '../recovery/check-store.js';
import { type Coroutine, runCoroutine } from '../storage/coroutine.js';
import { nodeStorage } from '../storage/node-storage.js';
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
  /** Bytes of a batch that was never completed; opening will set them aside. */
  readonly tornBytes: number;
  readonly damage: readonly Damage[];
  readonly losses: readonly { readonly from: number; readonly to: number }[];
}

/** Meant for a directory that no process has open. */
export function verifyWal(dir: string | Storage): Promise<VerifyReport> {
  const storage = typeof dir === 'string' ? nodeStorage(dir) : dir;
  return new Promise((resolve, reject) => {
    runCoroutine(verify(storage), (error, report) => (error === null ? resolve(report) : reject(error)));
  });
}

export function* verify(storage: Storage): Coroutine<VerifyReport> {
  try {
    const found = yield* checkStore(storage, () => undefined);
    if (found === undefined) return { ...NOTHING, ok: true };
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
    return { ...NOTHING, damage: [error.damage] };
  }
}

const NOTHING: VerifyReport = {
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
