import type { Host } from '@troupe/core';
import type { JobsHost } from './host.js';

/** Everything a machine puts off comes back as a message of its actor: one thing at a time, failures to the supervisor. */
export function actorHost(host: Host, tell: { run(task: () => void): void }): JobsHost {
  return {
    now: () => host.now(),
    wallNow: () => host.wallNow(),
    random: () => host.random(),
    setTimer: (ms, run) => host.setTimer(ms, () => tell.run(run)),
    soon: (run) => tell.run(run),
    later: (run) => host.later(() => tell.run(run)),
  };
}
