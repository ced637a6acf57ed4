import { OptionError } from '../errors/error-classes.js';
import type { Middleware, Outcome, Verdict } from './middleware.js';

/**
 * The middleware of one actor type, sorted by hook once, so that a message meets only the hooks that it
 * needs.
 */
export class Pipeline {
  readonly turns: readonly Middleware[];
  readonly messages: readonly Middleware[];
  readonly senders: readonly Middleware[];
  readonly wrappers: readonly Middleware[];
  /** The middleware of `senders` with `onDeadLetter`. */
  readonly deadLetterHooks: readonly Middleware[];
  /** Whether `afterMessage` of any middleware is called for a successful message. */
  readonly wantsHandled: boolean;
  /** No hook before a handler, nor after a successful one. */
  readonly isFailureOnly: boolean;
  /** Whether handlers are timed. */
  readonly isTimed: boolean;
  /** By index in `messages`: the index in `senders`, or -1. */
  private readonly senderOfMessage: readonly number[];

  private constructor(given: readonly Middleware[], hooks: 'all' | 'sends') {
    const middleware = hooks === 'all' ? given : [];
    this.turns = middleware.filter((m) => m.beforeTurn !== undefined || m.afterTurn !== undefined);
    this.messages = middleware.filter((m) => m.beforeMessage !== undefined || m.afterMessage !== undefined);
    this.senders = given.filter((m) => m.onSend !== undefined);
    this.wrappers = middleware.filter((m) => m.around !== undefined);
    this.deadLetterHooks = this.senders.filter((m) => m.onDeadLetter !== undefined);
    const after = middleware.filter((m) => m.afterMessage !== undefined);
    this.wantsHandled = after.some((m) => wants(m, 'handled'));
    const before = middleware.some((m) => m.beforeMessage !== undefined);
    this.isFailureOnly = !before && !this.wantsHandled && this.wrappers.length === 0;
    this.isTimed = after.some((m) => m.timesHandlers !== false);
    this.senderOfMessage = this.messages.map((m) => this.senders.indexOf(m));
  }

  /**
   * Undefined without a hook, so that actors without hooks take the fast path. A proxy has the hooks of sends
   * only: those of messages and turns run where the actor does.
   */
  static of(middleware: readonly Middleware[], hooks: 'all' | 'sends' = 'all'): Pipeline | undefined {
    const pipeline = new Pipeline(middleware, hooks);
    const { turns, messages, senders, wrappers } = pipeline;
    return [turns, messages, senders, wrappers].every(({ length }) => length === 0) ? undefined : pipeline;
  }

  get hasSendHook(): boolean {
    return this.senders.length > 0;
  }

  /** The envelope has one slot for context: a single sender's own value, or one value per sender. */
  contextOf(slot: unknown, middleware: Middleware): unknown {
    if (slot === undefined || this.senders.length === 0) return undefined;
    return this.contextAtIndex(slot, this.senders.indexOf(middleware));
  }

  /** The same for one of `messages`, by its index there. */
  contextAt(slot: unknown, index: number): unknown {
    if (slot === undefined || this.senders.length === 0) return undefined;
    return this.contextAtIndex(slot, this.senderOfMessage[index] as number);
  }

  private contextAtIndex(slot: unknown, index: number): unknown {
    if (index < 0) return undefined;
    return this.senders.length === 1 ? slot : (slot as readonly unknown[])[index];
  }
}

/** Whether its `afterMessage` is to be called for such an outcome. */
export function wants(middleware: Middleware, kind: Outcome['kind']): boolean {
  return middleware.outcomes === undefined || middleware.outcomes.includes(kind);
}

/** A verdict that cannot be carried out is the middleware's mistake; found later it would stop the pump. */
export function checkVerdict(verdict: Verdict): void {
  switch (verdict.verdict) {
    case 'continue':
      if (verdict.withinMs !== undefined) checkDelay('withinMs', verdict.withinMs, Number.MIN_VALUE);
      return;
    case 'hold':
      if (verdict.resumeOn.on === 'after') checkDelay('resumeOn.ms', verdict.resumeOn.ms, 0);
      return;
    case 'refuse':
    case 'answer':
      return;
    default:
      throw new OptionError('verdict', verdict satisfies never, 'needed continue, hold, refuse or answer');
  }
}

export function checkDelay(what: string, ms: number, least: number): void {
  if (!(ms >= least && ms < Number.POSITIVE_INFINITY))
    throw new OptionError(what, ms, `needed a number of milliseconds ${least === 0 ? 'from 0' : 'above 0'}`);
}
