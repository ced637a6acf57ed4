import { type Actor, type ActorSystem, defineActor } from '@troupe/core';

export interface WorkerClientSupervisorArgs {
  /** Receives the spawn function, once. */
  readonly onReady: (spawn: ActorSystem['spawn']) => void;
}

/** It takes no messages. */
type NoMessages = Readonly<Record<never, never>>;

/**
 * The parent of the workers and clients beside an embedded leader. A failed one is restarted: a worker as a
 * new incarnation, a client with everything it still waits for. The leader goes on.
 */
export const WorkerClientSupervisor: Actor<NoMessages, WorkerClientSupervisorArgs> =
  defineActor.of<NoMessages>()('roles', {
    state: (args: WorkerClientSupervisorArgs) => args,
    handlers: {},
    supervise: { backoff: { fromMs: 10, toMs: 1_000 } },
    started(ctx) {
      ctx.state.onReady((definition, ...rest) => ctx.spawn(definition, ...rest));
    },
  });
