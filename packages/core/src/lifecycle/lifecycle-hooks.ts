import type { ActorCell } from '../actor/actor-cell.js';
import { toError } from '../errors.js';
import { PendingCall, parkUntilSettled } from './pending-call.js';

export type HookName = 'started' | 'stopping' | 'stopped' | 'restarting' | 'terminated' | 'idle';
type Hook = (ctx: ActorCell, ...rest: unknown[]) => unknown;

/** Calls a hook if there is one; `then` follows at once, or in a later turn when the hook is asynchronous. */
export function runHook(
  cell: ActorCell,
  name: HookName,
  rest: unknown[],
  then: (cell: ActorCell, awaiting: PendingCall) => void,
): void {
  const hook = cell.type.spec[name] as Hook | undefined;
  const awaiting = new PendingCall(name, -1, undefined, cell.type.runtime.executor.coarseNow, then);
  if (hook !== undefined) {
    try {
      const result = hook(cell, ...rest) as PromiseLike<unknown> | undefined;
      if (typeof result === 'object' && result !== null && typeof result.then === 'function') {
        parkUntilSettled(cell, result, awaiting);
        return;
      }
    } catch (thrown) {
      awaiting.error = { thrown };
    }
  }
  then(cell, awaiting);
}

/** The hooks of an end cannot stop it: what they throw is said and done with. */
export function logHookFailure(cell: ActorCell, hook: string, awaiting: PendingCall): void {
  if (awaiting.error === undefined) return;
  cell.type.runtime.logFailure(
    cell,
    hook,
    toError(awaiting.error.thrown),
    'ignored: the hook of an end',
    0,
    0,
  );
}
