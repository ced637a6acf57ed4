import type { ActorCell } from '../../actor/actor-cell.js';
import { MiddlewareError } from '../../errors/error-classes.js';
import { toError } from '../../errors/thrown-value.js';
import type { ActorFailures } from '../../supervision/actor-failures.js';
import type { Middleware } from '../middleware.js';

/** A middleware that throws is the failure of the actor that has it. */
export function failActorForHook(
  failures: ActorFailures,
  cell: ActorCell,
  middleware: Middleware,
  hook: string,
  error: unknown,
): void {
  const failure = new MiddlewareError(middleware.name, hook, toError(error));
  failures.failed(cell, failure, -1, undefined, { hook });
}
