import type { Middleware } from './middleware.js';

/** The middleware of one kind of actor, sorted by hook once, so that a message meets only those that want it. */
export class Pipeline {
  readonly middleware: readonly Middleware[];
  readonly turns: readonly Middleware[];
  readonly messages: readonly Middleware[];
  readonly senders: readonly Middleware[];
  readonly wrappers: readonly Middleware[];

  constructor(middleware: readonly Middleware[]) {
    this.middleware = middleware;
    this.turns = middleware.filter((m) => m.beforeTurn !== undefined || m.afterTurn !== undefined);
    this.messages = middleware.filter((m) => m.beforeMessage !== undefined || m.afterMessage !== undefined);
    this.senders = middleware.filter((m) => m.onSend !== undefined);
    this.wrappers = middleware.filter((m) => m.around !== undefined);
  }

  get hasSendHook(): boolean {
    return this.senders.length > 0;
  }

  /** The envelope has one slot for context: a single sender's own value, or one value per sender. */
  contextOf(slot: unknown, middleware: Middleware): unknown {
    if (slot === undefined || this.senders.length === 0) return undefined;
    const index = this.senders.indexOf(middleware);
    if (index < 0) return undefined;
    return this.senders.length === 1 ? slot : (slot as readonly unknown[])[index];
  }
}
