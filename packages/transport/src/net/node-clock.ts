import type { Clock } from './clock.js';

const TIMER_MS_MAX = 2 ** 31 - 1;

/** Real time. A timer past 24 days would fire at once in Node, so it is cut there; whoever set it looks again. */
export const nodeClock: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  setTimer(ms, run) {
    const timer = setTimeout(run, Math.min(ms, TIMER_MS_MAX));
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (run) => queueMicrotask(run),
};
