import { type ActorDefinition, type ActorSystem, defineActor } from '@troupe/core';

export interface StaffArgs {
  /** Told once how to take somebody on. */
  readonly onReady: (spawn: ActorSystem['spawn']) => void;
}

const none = {};

/**
 * The parent of the workers and clients beside an embedded leader. One that fails is started again: a worker as a new incarnation,
 * a client with everything it still waits for. The leader goes on.
 */
export const StaffActor: ActorDefinition<typeof none, StaffArgs, StaffArgs> = defineActor('staff', {
  state: (args: StaffArgs) => args,
  handlers: none,
  supervise: { backoff: { fromMs: 10, toMs: 1_000 } },
  started(ctx) {
    ctx.state.onReady((definition, ...rest) => ctx.spawn(definition, ...rest));
  },
});
