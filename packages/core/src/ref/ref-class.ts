import type { ActorCell } from '../actor/actor-cell.js';
import type { Delivered } from '../mailbox/delivery.js';
import { IDLE } from '../mailbox/status-word.js';
import type { AnyRef, RefClass } from './actor-ref.js';
import type { ActorTimer } from './timer-methods.js';

/** How a timer sends: in whose name, when, and under which key. */
export interface TimerTerms {
  readonly owner: ActorCell;
  readonly ms: number;
  readonly repeat: boolean;
  readonly key: string | undefined;
}

/** The common part of all ref classes. It holds the cell; a restart puts the next incarnation in its place. */
export abstract class RefBase implements AnyRef {
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

  toString(): string {
    return `ref(${this.cell.path})`;
  }

  /** `tell` in the name of an actor. */
  abstract tellAs(sender: ActorCell): object;
  /** `ask` in the name of an actor, or with a deadline of its own; `withinMs` undefined means the default. */
  abstract askAs(sender: ActorCell | undefined, withinMs: number | undefined): object;
  abstract timer(terms: TimerTerms): object;
}

type Faced = { readonly '~ref': RefBase };
type FacedAs<Terms> = Faced & { readonly '~terms': Terms };
type AskTerms = { readonly sender: ActorCell | undefined; readonly withinMs: number | undefined };

/**
 * Builds the ref class of a definition: one method per handler on each face, made once, here. The face of `tell` is the ref
 * itself, so a send makes no object (ADR 0027); only where a handler has the name of something that a ref has already, it
 * is an object of its own, as the other faces are. A face is made anew at every use, and an idle actor holds none. It holds
 * the ref, not the cell: one that was kept over a restart still reaches the actor. What it holds has names that no
 * handler can have.
 *
 * It is evaluated anew for each definition (see `ownCopyOf`), so it must refer to nothing outside itself.
 */
function buildRefClass(
  Base: typeof RefBase,
  idle: number,
  handlerNames: readonly string[],
  taken: readonly string[],
): RefClass {
  // Made by a function, not derived from one class: a constructor without `super` is inlined in the sender's own code.
  const face = () =>
    class Face {
      readonly '~ref': RefBase;
      constructor(ref: RefBase) {
        this['~ref'] = ref;
      }
    };
  const faceAs = <Terms>() =>
    class FaceAs {
      readonly '~ref': RefBase;
      readonly '~terms': Terms;
      constructor(ref: RefBase, terms: Terms) {
        this['~ref'] = ref;
        this['~terms'] = terms;
      }
    };
  const Tell = face();
  const Offer = face();
  const Send = face();
  const Ask = face();
  const TellAs = faceAs<ActorCell>();
  const AskAs = faceAs<AskTerms>();
  const TimerAs = faceAs<TimerTerms>();

  class Ref extends Base {
    get '~ref'(): this {
      return this;
    }
    get tell(): object {
      return this;
    }
    get offer(): object {
      return new Offer(this);
    }
    get send(): object {
      return new Send(this);
    }
    get ask(): object {
      return new Ask(this);
    }
    override tellAs(sender: ActorCell): object {
      return new TellAs(this, sender);
    }
    override askAs(sender: ActorCell | undefined, withinMs: number | undefined): object {
      return new AskAs(this, { sender, withinMs });
    }
    override timer(terms: TimerTerms): object {
      return new TimerAs(this, terms);
    }
  }
  class RefBesideTell extends Ref {
    override get tell(): object {
      return new Tell(this);
    }
  }
  const clashes = handlerNames.some((name) => name in Ref.prototype || taken.includes(name));
  const TellMethods = clashes ? Tell : Ref;

  const method = (
    face: { readonly prototype: object },
    name: string,
    body: (payload?: unknown, signal?: AbortSignal) => unknown,
  ) => {
    Object.defineProperty(face.prototype, name, { value: body, writable: true, configurable: true });
  };

  handlerNames.forEach((name, handler) => {
    method(TellMethods, name, function (this: Faced, payload?: unknown): void {
      const cell = this['~ref'].cell;
      // Not `delivery.tell`: the comment of `Delivery` says why.
      if (cell.status === idle) cell.type.delivery.wakeWith(cell, handler, payload);
      else cell.type.delivery.post(cell, handler, payload);
    });
    method(Offer, name, function (this: Faced, payload?: unknown): Delivered {
      const cell = this['~ref'].cell;
      return cell.type.delivery.offer(cell, handler, payload);
    });
    method(Send, name, function (this: Faced, payload?: unknown, signal?: AbortSignal): Promise<void> {
      return this['~ref'].cell.type.runtime.sends.send(this['~ref'], handler, payload, signal);
    });
    method(Ask, name, function (this: Faced, payload?: unknown): Promise<unknown> {
      const cell = this['~ref'].cell;
      return cell.type.runtime.asks.ask(cell, handler, payload);
    });
    method(TellAs, name, function (this: FacedAs<ActorCell>, payload?: unknown): void {
      this['~ref'].cell.type.runtime.asks.tellAs(this['~terms'], this['~ref'].cell, handler, payload);
    });
    method(AskAs, name, function (this: FacedAs<AskTerms>, payload?: unknown): Promise<unknown> {
      const { sender, withinMs } = this['~terms'];
      return this['~ref'].cell.type.runtime.asks.askAs(sender, this['~ref'].cell, handler, payload, withinMs);
    });
    method(TimerAs, name, function (this: FacedAs<TimerTerms>, payload?: unknown): ActorTimer {
      return this['~ref'].cell.type.runtime.timers.arm(this['~terms'], this['~ref'], handler, payload);
    });
  });

  return clashes ? RefBesideTell : Ref;
}

let copies = 0;

/**
 * The same function with type feedback of its own. All functions made at one place in a source share what the compiler
 * learns about them: with five actor types in a process every send would be compiled for any kind at all (ADR 0026).
 * Where code may not be made from strings, the function itself will do.
 */
function ownCopyOf<F extends (...args: never[]) => unknown>(build: F): F {
  copies += 1;
  try {
    // The number keeps the compiler from taking the text for one that it has seen before.
    return new Function(`return ${build};\n//# sourceURL=troupe-ref-${copies}`)() as F;
  } catch (error) {
    if (error instanceof EvalError) return build;
    throw error;
  }
}

/** Beside what stands on the prototype: its own field, and what would make a promise of a ref, or send when it is printed. */
const TAKEN: readonly string[] = ['cell', 'then', 'toJSON'];

export function makeRefClass(handlerNames: readonly string[]): RefClass {
  return ownCopyOf(buildRefClass)(RefBase, IDLE, handlerNames, TAKEN);
}
