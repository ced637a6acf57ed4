import type { Clock } from './clock.js';

const TIMER_MS_MAX = 2 ** 31 - 1;

/** Real time. Node fires timers above 24 days at once, so they are cut; deadlines are checked again then. */
export const nodeClock: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  setTimer(ms, run) {
    const timer = setTimeout(run, Math.min(ms, TIMER_MS_MAX));
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (run) => queueMicrotask(run),
};
