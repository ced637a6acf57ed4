import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { WalHost } from './wal-host.js';

export const nodeWalHost: Required<WalHost> = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  random: () => randomBytes(6).readUIntLE(0, 6) / 2 ** 48,
  setTimer: (ms, run, hold = false) => (hold ? setTimeout(run, ms) : setTimeout(run, ms).unref()),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
  // The tick queue runs only when the microtask queue is empty: a thousand promises resolved together all
  // append before the batch is closed, and no pass of the event loop is spent on waiting for them.
  defer: (run) => queueMicrotask(() => process.nextTick(run)),
  later: (run) => void setImmediate(run),
  exit: (code) => process.exit(code),
};
