import { type ActorDefinition, type ActorSystem, defineActor } from '@troupe/core';

export interface WorkerClientSupervisorArgs {
  /** Receives the spawn function, once. */
  readonly onReady: (spawn: ActorSystem['spawn']) => void;
}

const none = {};

/**
 * The parent of the workers and clients beside an embedded leader. A failed one is restarted: a worker as a
 * new incarnation, a client with everything it still waits for. The leader goes on.
 */
export const WorkerClientSupervisor: ActorDefinition<
  typeof none,
  WorkerClientSupervisorArgs,
  WorkerClientSupervisorArgs
> = defineActor('roles', {
  state: (args: WorkerClientSupervisorArgs) => args,
  handlers: none,
  supervise: { backoff: { fromMs: 10, toMs: 1_000 } },
  started(ctx) {
    ctx.state.onReady((definition, ...rest) => ctx.spawn(definition, ...rest));
  },
});
