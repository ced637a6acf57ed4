import type { Host, HostTimer } from '@troupe/core';
import type { WalHost } from './host.js';

/** Adapts the runtime's host to the log's, so that a simulated system and its log share one clock. */
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
    // After everything on the event loop now, so that all actors that run now append to the same batch.
    defer: (run) => host.later(run),
    later: (run) => host.later(run),
  };
}
