import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { enveloped } from '../message/envelope.js';
import type { Handler } from './mailbox-type.js';

/**
 * Messages without a handler in the present phase of their actor: dead letters, or stashed until the next
 * phase.
 */
export class UnhandledInPhase {
  private readonly runtime: Parts<'deadLetters' | 'invoker' | 'stashes'>;
  private readonly placeholders = new WeakSet<Handler>();

  constructor(runtime: UnhandledInPhase['runtime']) {
    this.runtime = runtime;
  }

  /** Stands in the place of a missing handler. Called for actors without middleware only. */
  handlerFor(name: string): Handler {
    const placeholder = ((cell: ActorCell, payload: unknown) =>
      this.handleMissing(cell, name, payload)) as unknown as Handler;
    this.placeholders.add(placeholder);
    return placeholder;
  }

  /** Whether that message has no handler at present. */
  has(cell: ActorCell, handler: number): boolean {
    return this.placeholders.has(cell.type.handlers[handler] as Handler);
  }

  isStashed(cell: ActorCell): boolean {
    return cell.type.spec.illegal === 'stash';
  }

  reasonFor(cell: ActorCell): string {
    return `not legal in phase ${cell.type.phase}`;
  }

  private handleMissing(cell: ActorCell, name: string, payload: unknown): void {
    const { invoker, stashes, deadLetters } = this.runtime;
    const { envelope } = invoker;
    const handler = cell.type.definition['~handlerNames'].indexOf(name);
    const slot = envelope === undefined ? handler : enveloped(handler);
    const content = envelope ?? payload;
    if (this.isStashed(cell)) {
      stashes.put(cell, slot, content);
      // Only the reply to an envelope has to wait, and only after an envelope does the invoker look.
      invoker.stashed = envelope !== undefined;
      return;
    }
    invoker.discount();
    deadLetters.undelivered(cell, slot, content, 'illegal', this.reasonFor(cell));
  }
}
