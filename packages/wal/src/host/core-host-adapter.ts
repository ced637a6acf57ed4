import type { Host, HostTimer } from '@troupe/core';
import type { WalHost } from './host.js';

/** The runtime's host as the log's: so that a simulated system and its log live in the same time. */
export function walHostOf(host: Host): WalHost {
  return {
    now: () => host.now(),
    wallNow: () => host.wallNow(),
    random: () => host.random(),
    setTimer(ms, run, hold = false) {
      const timer = host.setTimer(ms, run);
      timer.hold(hold);
      return timer;
    },
    clearTimer: (timer) => (timer as HostTimer | undefined)?.cancel(),
    // After what is on the event loop now: the actors of this turn all get to append before the batch is closed.
    defer: (run) => host.later(run),
    later: (run) => host.later(run),
  };
}
