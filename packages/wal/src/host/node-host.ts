import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { WalHost } from './host.js';

export const nodeHost: Required<WalHost> = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  random: () => randomBytes(6).readUIntLE(0, 6) / 2 ** 48,
  setTimer: (ms, run, hold = false) => (hold ? setTimeout(run, ms) : setTimeout(run, ms).unref()),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
  // The tick queue is served again only when the microtask queue has run dry: so a thousand promises resolved together
  // all get to append before the batch is closed, and no turn of the event loop is spent on waiting for them.
  defer: (run) => queueMicrotask(() => process.nextTick(run)),
  later: (run) => void setImmediate(run),
  exit: (code) => process.exit(code),
};
