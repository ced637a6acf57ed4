// A fold that fails in the way its record names, and counts the states saved on its thread.

import type { Fold } from '@troupe/wal';

export interface FailingFoldState {
  lastLsn: number;
  savedHere: number;
}

let saved = 0;

const FAULTS: Record<string, () => void> = {
  // The interval keeps the thread alive until it is terminated.
  throw: () => {
    setInterval(() => undefined, 1_000);
    throw new Error('thrown by the fold');
  },
  // Outside the caller's try block.
  crash: () =>
    queueMicrotask(() => {
      throw new Error('thrown by the fold');
    }),
  exit: () => process.exit(3),
};

export const failingFold: Fold<FailingFoldState> = {
  empty: () => ({ lastLsn: 0, savedHere: 0 }),
  apply(state, lsn, payload) {
    FAULTS[payload.toString()]?.();
    state.lastLsn = lsn;
  },
  *save(state) {
    saved += 1;
    yield Buffer.from(JSON.stringify({ ...state, savedHere: saved }));
  },
  restore(state, chunk) {
    Object.assign(state, JSON.parse(chunk.toString()));
  },
};
