import type { Host } from '@troupe/core';
import type { JobsHost } from './host.js';

/** Everything a machine puts off comes back as a message of its actor: one thing at a time, failures to the supervisor. */
export function actorHost(host: Host, tell: { run(task: () => void): void }): JobsHost {
  return {
    now: () => host.now(),
    wallNow: () => host.wallNow(),
    random: () => host.random(),
    setTimer: (ms, run) => {
      const timer = host.setTimer(ms, () => tell.run(run));
      // Beats, ticks and deadlines do not keep a process alive that has nothing else to do.
      timer.hold(false);
      return timer;
    },
    soon: (run) => tell.run(run),
    later: (run) => host.later(() => tell.run(run)),
  };
}
