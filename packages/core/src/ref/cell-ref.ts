import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { INSPECT } from '../inspect-symbol.js';
import type { Delivered } from '../mailbox/delivery.js';
import type { AnyRef } from './actor-ref.js';
import type { ActorTimer } from './timer-methods.js';

/** How a timer sends: in which actor's name, when, and under which key. */
export interface TimerTerms {
  readonly owner: ActorCell;
  readonly ms: number;
  readonly repeat: boolean;
  readonly key: string | undefined;
}

/**
 * How an ask is sent: in which actor's name, and with which deadline; `withinMs` undefined means the default.
 */
export interface AskTerms {
  readonly sender: ActorCell | undefined;
  readonly withinMs: number | undefined;
}

/**
 * The common part of all ref classes. It holds the cell; a restart puts the next incarnation in its place.
 * The methods here deliver to one target, its cell; a router overrides them and chooses its targets.
 */
export abstract class CellRef implements AnyRef {
  cell: ActorCell;

  constructor(cell: ActorCell) {
    this.cell = cell;
  }

  get path(): string {
    return this.cell.path;
  }

  get id(): string {
    return this.cell.id;
  }

  /** An actor of that definition, or a pool of such. */
  '~isOf'(definition: AnyDefinition): boolean {
    const own = this.cell.type.definition;
    return own === definition || own['~routees'] === definition;
  }

  toString(): string {
    return `ref(${this.cell.path})`;
  }

  toJSON(): string {
    return this.toString();
  }

  /** Refs hold the runtime: without this, one line of `console.log` would print all of it. */
  [INSPECT](): string {
    return this.toString();
  }

  /** The methods of `tell` in the name of an actor. */
  abstract tellAs(sender: ActorCell): object;
  /** The methods of `ask` in the name of an actor, or with a deadline of its own. */
  abstract askAs(sender: ActorCell | undefined, withinMs: number | undefined): object;
  /** The methods of a timer. */
  abstract timer(terms: TimerTerms): object;

  offerTo(handler: number, payload: unknown): Delivered {
    const { cell } = this;
    return cell.type.delivery.offer(cell, handler, payload);
  }

  sendTo(handler: number, payload: unknown, signal: AbortSignal | undefined): Promise<void> {
    return this.cell.type.runtime.sends.send(this, handler, payload, signal);
  }

  tellFrom(sender: ActorCell, handler: number, payload: unknown): void {
    const { cell } = this;
    cell.type.runtime.asks.tellAs(sender, cell, handler, payload);
  }

  askFrom({ sender, withinMs }: AskTerms, handler: number, payload: unknown): Promise<unknown> {
    const { cell } = this;
    return cell.type.runtime.asks.askAs(sender, cell, handler, payload, withinMs);
  }

  armTimer(terms: TimerTerms, handler: number, payload: unknown): ActorTimer {
    return this.cell.type.runtime.timers.arm(terms, this, handler, payload);
  }
}
