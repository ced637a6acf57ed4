import { OptionError } from '../errors.js';
import type { Middleware, Verdict } from './middleware.js';

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
    const index = this.senders.indexOf(middleware);
    if (index < 0) return undefined;
    return this.senders.length === 1 ? slot : (slot as readonly unknown[])[index];
  }
}

/** A verdict that cannot be carried out is its author's mistake; found later it would stop the pump. */
export function mustBePossible(verdict: Verdict): void {
  switch (verdict.verdict) {
    case 'continue':
      if (verdict.withinMs !== undefined) mustBeTime('withinMs', verdict.withinMs, Number.MIN_VALUE);
      return;
    case 'hold':
      if (verdict.resumeOn.on === 'after') mustBeTime('resumeOn.ms', verdict.resumeOn.ms, 0);
      return;
    case 'refuse':
    case 'answer':
      return;
    default:
      throw new OptionError('verdict', verdict satisfies never, 'needed continue, hold, refuse or answer');
  }
}

export function mustBeTime(what: string, ms: number, least: number): void {
  if (!(ms >= least && ms < Number.POSITIVE_INFINITY))
    throw new OptionError(what, ms, `needed a number of milliseconds ${least === 0 ? 'from 0' : 'above 0'}`);
}
