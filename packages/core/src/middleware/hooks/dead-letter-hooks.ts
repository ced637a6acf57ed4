import type { ActorCell } from '../../actor/actor-cell.js';
import type { Parts } from '../../actor/runtime-parts.js';
import { MiddlewareError } from '../../errors/error-classes.js';
import { toError } from '../../errors/thrown-value.js';
import type { DeadLetterReason } from '../../message/dead-letter.js';
import type { Envelope } from '../../message/envelope.js';
import { DeadLetterHookContext } from './hook-contexts.js';

/** Runs `onDeadLetter`. */
export class DeadLetterHooks {
  private readonly runtime: Parts<'log'>;

  constructor(runtime: DeadLetterHooks['runtime']) {
    this.runtime = runtime;
  }

  /**
   * The middleware of the context may have something to end. An error is logged: there is no handler to fail.
   */
  run(cell: ActorCell, envelope: Envelope, reason: DeadLetterReason): void {
    const { pipeline } = cell.type;
    if (pipeline === undefined || pipeline.deadLetterHooks.length === 0) return;
    for (const middleware of pipeline.deadLetterHooks) {
      const context = pipeline.contextOf(envelope.context, middleware);
      if (context === undefined) continue;
      try {
        middleware.onDeadLetter?.(new DeadLetterHookContext(cell, envelope, reason, context));
      } catch (error) {
        const { message } = new MiddlewareError(middleware.name, 'onDeadLetter', toError(error));
        this.runtime.log.write('error', `${cell.path}: ${message}`, { path: cell.path, error });
      }
    }
  }
}
