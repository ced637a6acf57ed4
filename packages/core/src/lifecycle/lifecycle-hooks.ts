import type { ActorCell } from '../actor/cell.js';
import { toError } from '../errors.js';
import { Awaiting, park } from './awaiting.js';

export type HookName = 'started' | 'stopping' | 'stopped' | 'restarting' | 'terminated' | 'idle';
type Hook = (ctx: ActorCell, ...rest: unknown[]) => unknown;

/** Calls a hook if there is one; `then` follows at once, or in a later turn when the hook is asynchronous. */
export function runHook(
  cell: ActorCell,
  name: HookName,
  rest: unknown[],
  then: (cell: ActorCell, awaiting: Awaiting) => void,
): void {
  const hook = cell.kind.spec[name] as Hook | undefined;
  const awaiting = new Awaiting(name, -1, undefined, cell.kind.runtime.executor.coarseNow, then);
  if (hook !== undefined) {
    try {
      const result = hook(cell, ...rest) as PromiseLike<unknown> | undefined;
      if (typeof result === 'object' && result !== null && typeof result.then === 'function') {
        park(cell, result, awaiting);
        return;
      }
    } catch (thrown) {
      awaiting.error = { thrown };
    }
  }
  then(cell, awaiting);
}

/** The hooks of an end cannot stop it: what they throw is said and done with. */
export function logHookFailure(cell: ActorCell, hook: string, awaiting: Awaiting): void {
  if (awaiting.error === undefined) return;
  cell.kind.runtime.logFailure(
    cell,
    hook,
    toError(awaiting.error.thrown),
    'ignored: the hook of an end',
    0,
    0,
  );
}
