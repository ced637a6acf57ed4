import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { toError } from '../errors/thrown-value.js';
import { type Continuation, UnsettledHandler } from '../invoker/unsettled-handler.js';

export type HookName = 'started' | 'stopping' | 'stopped' | 'restarting' | 'terminated' | 'idle';
type Hook = (ctx: ActorCell, ...rest: unknown[]) => unknown;

/** Calls the hooks of definitions. */
export class LifecycleHooks {
  /** User code of a hook is on the stack, so no message is being handled. */
  isRunning = false;
  private readonly runtime: Parts<'log' | 'executor' | 'monitor' | 'parking'>;

  constructor(runtime: LifecycleHooks['runtime']) {
    this.runtime = runtime;
  }

  /**
   * Calls a hook if there is one; `then` follows at once, or in a later turn when the hook is asynchronous.
   */
  run(cell: ActorCell, name: HookName, rest: unknown[], then: Continuation): void {
    this.call(cell, name, cell.type.spec[name] as Hook | undefined, rest, then);
  }

  call(
    cell: ActorCell,
    what: string,
    hook: Hook | undefined,
    rest: readonly unknown[],
    then: Continuation,
  ): void {
    const call = new UnsettledHandler(what, -1, undefined, this.runtime.executor.coarseNow, then);
    if (hook !== undefined) {
      this.runtime.monitor?.hookBegun(cell, what);
      try {
        const result = this.outsideMessage(() => hook(cell, ...rest)) as PromiseLike<unknown> | undefined;
        if (typeof result === 'object' && result !== null && typeof result.then === 'function') {
          this.runtime.parking.park(cell, result, call);
          return;
        }
      } catch (thrown) {
        call.error = { thrown };
      }
    }
    then(cell, call);
  }

  /** Runs user code while no message is handled. */
  private outsideMessage<T>(code: () => T): T {
    this.isRunning = true;
    try {
      return code();
    } finally {
      this.isRunning = false;
    }
  }

  /** A hook of an ending cannot stop that ending: its error is logged. */
  logFailure(cell: ActorCell, hook: HookName, { error }: UnsettledHandler): void {
    if (error === undefined) return;
    const why = hook === 'restarting' ? 'the restart goes on without it' : 'the actor ends without it';
    this.runtime.log.logIgnoredFailure(cell, hook, toError(error.thrown), why);
  }
}
