import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition, RepresentedDefinition } from '../define/actor-definition.js';
import { INSPECT } from '../inspect-symbol.js';
import type { Delivered } from '../mailbox/delivery.js';
import type { AnyRef, AskOptions } from './actor-ref.js';
import { type CallTerms, checkCallOptions } from './call-options.js';
import type { ActorTimer } from './timer-methods.js';

/** How a timer sends: in which actor's name, when, and under which key. */
export interface TimerTerms {
  readonly owner: ActorCell;
  readonly ms: number;
  readonly repeat: boolean;
  readonly key: string | undefined;
}

/** `ref.with(options)`. Each use is attributed to the actor whose handler is running then. */
class RefWithOptions {
  private readonly ref: CellRef;
  private readonly options: AskOptions;

  constructor(ref: CellRef, options: AskOptions) {
    this.ref = ref;
    this.options = options;
  }

  get ask(): object {
    return this.ref.askAs(this.ref.running, this.options);
  }

  get send(): object {
    return this.ref.sendAs(this.ref.running, this.options);
  }
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
    if (own === definition || own['~routees'] === definition) return true;
    const represented = own['~represents'];
    return represented !== undefined && isSame(represented, definition);
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
  /** The methods of `offer` in the name of an actor. */
  abstract offerAs(sender: ActorCell): object;
  /** The methods of `ask` in the name of an actor, or with options. */
  abstract askAs(sender: ActorCell | undefined, options: AskOptions | undefined): object;
  /** The methods of `send` in the name of an actor, or with options. */
  abstract sendAs(sender: ActorCell | undefined, options: AskOptions | undefined): object;
  /** The methods of a timer. */
  abstract timer(terms: TimerTerms): object;

  with(options: AskOptions): object {
    checkCallOptions('with', options);
    return new RefWithOptions(this, { withinMs: options.withinMs, signal: options.signal });
  }

  /** The actor of the same system whose handler is running. */
  get running(): ActorCell | undefined {
    return this.cell.type.runtime.delivery.sender;
  }

  offerTo(handler: number, payload: unknown): Delivered {
    const { cell } = this;
    return cell.type.delivery.offer(cell, handler, payload);
  }

  sendTo(handler: number, payload: unknown): Promise<void> {
    return this.cell.type.runtime.sends.send(this, handler, payload);
  }

  sendFrom(terms: CallTerms, handler: number, payload: unknown): Promise<void> {
    return this.cell.type.runtime.sends.sendAs(terms, this, handler, payload);
  }

  offerFrom(sender: ActorCell, handler: number, payload: unknown): Delivered {
    const { cell } = this;
    return cell.type.runtime.asks.offerAs(sender, cell, handler, payload);
  }

  tellFrom(sender: ActorCell, handler: number, payload: unknown): void {
    const { cell } = this;
    cell.type.runtime.asks.tellAs(sender, cell, handler, payload);
  }

  askFrom({ sender, options }: CallTerms, handler: number, payload: unknown): Promise<unknown> {
    const { cell } = this;
    return cell.type.runtime.asks.askAs(sender, cell, handler, payload, options);
  }

  armTimer(terms: TimerTerms, handler: number, payload: unknown): ActorTimer {
    return this.cell.type.runtime.timers.arm(terms, this, handler, payload);
  }
}

/** Whether the actor of a proxy has that definition: by itself, or by its module, name and messages. */
function isSame(represented: RepresentedDefinition, definition: AnyDefinition): boolean {
  if (represented.definition !== undefined) return represented.definition === definition;
  return (
    represented.name === definition.name &&
    represented.module === definition['~module']?.() &&
    represented.handlers.join() === definition['~handlerNames'].join()
  );
}
