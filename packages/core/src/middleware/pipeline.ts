import { OptionError } from '../errors.js';
import type { Middleware, Outcome, Verdict } from './middleware.js';

/** The middleware of one kind of actor, sorted by hook once, so that a message meets only those that want it. */
export class Pipeline {
  readonly turns: readonly Middleware[];
  readonly messages: readonly Middleware[];
  readonly senders: readonly Middleware[];
  readonly wrappers: readonly Middleware[];
  /** Those of `senders` that want to know what was lost. */
  readonly deadLetterHooks: readonly Middleware[];
  /** Whether a message that was handled well has anything to do with `Middleware.afterMessage`. */
  readonly wantsHandled: boolean;
  /** Nothing is done with a message before its handler, nor after one that went well. */
  readonly isFailureOnly: boolean;
  /** Whether somebody wants to know how long handlers take. */
  readonly isTimed: boolean;
  /** By place in `messages`: the place in `senders`, or -1. */
  private readonly senderOfMessage: readonly number[];

  constructor(middleware: readonly Middleware[]) {
    this.turns = middleware.filter((m) => m.beforeTurn !== undefined || m.afterTurn !== undefined);
    this.messages = middleware.filter((m) => m.beforeMessage !== undefined || m.afterMessage !== undefined);
    this.senders = middleware.filter((m) => m.onSend !== undefined);
    this.wrappers = middleware.filter((m) => m.around !== undefined);
    this.deadLetterHooks = this.senders.filter((m) => m.onDeadLetter !== undefined);
    const after = middleware.filter((m) => m.afterMessage !== undefined);
    this.wantsHandled = after.some((m) => wants(m, 'handled'));
    const before = middleware.some((m) => m.beforeMessage !== undefined);
    this.isFailureOnly = !before && !this.wantsHandled && this.wrappers.length === 0;
    this.isTimed = after.some((m) => m.timesHandlers !== false);
    this.senderOfMessage = this.messages.map((m) => this.senders.indexOf(m));
  }

  /** Undefined without a hook: then nobody pays for it. */
  static of(middleware: readonly Middleware[]): Pipeline | undefined {
    const pipeline = new Pipeline(middleware);
    const { turns, messages, senders, wrappers } = pipeline;
    return [turns, messages, senders, wrappers].every(({ length }) => length === 0) ? undefined : pipeline;
  }

  get hasSendHook(): boolean {
    return this.senders.length > 0;
  }

  /** The envelope has one slot for context: a single sender's own value, or one value per sender. */
  contextOf(slot: unknown, middleware: Middleware): unknown {
    if (slot === undefined || this.senders.length === 0) return undefined;
    return this.atPlace(slot, this.senders.indexOf(middleware));
  }

  /** The same for one of `messages`, by its place there. */
  contextAt(slot: unknown, place: number): unknown {
    if (slot === undefined || this.senders.length === 0) return undefined;
    return this.atPlace(slot, this.senderOfMessage[place] as number);
  }

  private atPlace(slot: unknown, index: number): unknown {
    if (index < 0) return undefined;
    return this.senders.length === 1 ? slot : (slot as readonly unknown[])[index];
  }
}

/** Whether its `afterMessage` is to be called for such an outcome. */
export function wants(middleware: Middleware, kind: Outcome['kind']): boolean {
  return middleware.outcomes === undefined || middleware.outcomes.includes(kind);
}

/** A verdict that cannot be carried out is its author's mistake; found later it would stop the pump. */
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
