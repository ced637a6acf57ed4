// Checks every record against the payload expected at its LSN. The state is the last LSN and a digest.

import { createHash } from 'node:crypto';
import type { BlobRef, Fold } from '@troupe/wal';

export interface SequenceState {
  lastLsn: number;
  digest: string;
  blob: BlobRef | undefined;
}

export function payloadFor(lsn: number): Buffer {
  return Buffer.from(`${lsn}:${'abcdefghij'.repeat((lsn * 31) % 40)}`);
}

export const sequenceCheckFold: Fold<SequenceState> = {
  empty: () => ({ lastLsn: 0, digest: '', blob: undefined }),
  apply(state, lsn, payload, type, blob) {
    if (lsn !== state.lastLsn + 1) throw new Error(`lsn ${lsn} follows ${state.lastLsn}`);
    const expected = type === 1 ? '' : payloadFor(lsn).toString();
    if (payload.toString() !== expected)
      throw new Error(`lsn ${lsn} holds ${payload.toString().slice(0, 40)}`);
    if (type === 1 && blob?.bytes !== 9_000) throw new Error(`lsn ${lsn} has no blob`);
    state.lastLsn = lsn;
    state.digest = createHash('sha1').update(state.digest).update(payload).digest('hex');
    state.blob = blob ?? state.blob;
  },
  *save(state) {
    yield Buffer.from(JSON.stringify(state));
  },
  restore(state, chunk) {
    Object.assign(state, JSON.parse(chunk.toString()));
  },
  blobs: (state) => (state.blob === undefined ? [] : [state.blob]),
};
