// A state with a running digest of all records in order, so that two states compare in one step.

import { createHash } from 'node:crypto';
import type { BlobRef, Fold } from '@troupe/wal';

export interface DigestState {
  count: number;
  lastLsn: number;
  digest: string;
  readonly blobs: Map<string, BlobRef>;
}

export const digestFold: Fold<DigestState> = {
  empty: () => ({ count: 0, lastLsn: 0, digest: '', blobs: new Map() }),
  apply(state, lsn, payload, type, blob) {
    if (lsn !== state.lastLsn + 1) throw new Error(`lsn ${lsn} after ${state.lastLsn}`);
    state.count += 1;
    state.lastLsn = lsn;
    state.digest = digestOf(state.digest, payload, type, blob);
    if (blob === undefined) return;
    // Only the last blob is in use, so that tests can see the others being removed.
    state.blobs.clear();
    state.blobs.set(blob.sha256, blob);
  },
  *save(state) {
    yield Buffer.from(JSON.stringify({ count: state.count, lastLsn: state.lastLsn, digest: state.digest }));
    yield Buffer.from(JSON.stringify([...state.blobs.values()]));
  },
  restore(state, chunk) {
    const value: unknown = JSON.parse(chunk.toString());
    if (Array.isArray(value)) for (const ref of value as BlobRef[]) state.blobs.set(ref.sha256, ref);
    else Object.assign(state, value);
  },
  blobs: (state) => state.blobs.values(),
};

export function digestOf(
  before: string,
  payload: Uint8Array,
  type: number,
  blob: BlobRef | undefined,
): string {
  return createHash('sha1')
    .update(before)
    .update(payload)
    .update(`${type}${blob?.sha256 ?? ''}`)
    .digest('hex');
}
