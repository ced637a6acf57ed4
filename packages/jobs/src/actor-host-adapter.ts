import type { Host } from '@troupe/core';
import type { JobsHost } from './jobs-host.js';

/**
 * A host for the state machine of an actor: timers and deferred tasks run as messages of the actor, under its
 * supervisor.
 */
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
