// Does what its records say, and counts how many states its thread has saved.

import type { Fold } from '@troupe/wal';

export interface FailingFoldState {
  lastLsn: number;
  savedHere: number;
}

let saved = 0;

const FAULTS: Record<string, () => void> = {
  // A thread that is not ended would wait for the timer for ever.
  throw: () => {
    setInterval(() => undefined, 1_000);
    throw new Error('as it was told');
  },
  // Out of reach of whoever called the fold.
  crash: () =>
    queueMicrotask(() => {
      throw new Error('as it was told');
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
