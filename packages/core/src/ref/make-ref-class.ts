import type { ActorCell } from '../actor/actor-cell.js';
import type { Delivered } from '../mailbox/delivery.js';
import { IDLE } from '../mailbox/status-word.js';
import type { AskOptions, RefClass } from './actor-ref.js';
import type { CallTerms } from './call-options.js';
import { CellRef, type TimerTerms } from './cell-ref.js';
import { FunctionCopies } from './function-copies.js';
import type { ActorTimer } from './timer-methods.js';

type Methods = { readonly '~ref': CellRef };
type MethodsOn<Terms> = Methods & { readonly '~terms': Terms };

/**
 * Builds the ref class of a definition, with one method per handler for each of `tell`, `offer`, `send`,
 * `ask` and timers. The methods of `tell` are on the ref itself, so a send makes no object; only where a
 * handler has the name of something that a ref has already, they are on an object of their own, as the others
 * are. Such an object is made at every use, so an idle actor holds none. It holds the ref, not the cell: kept
 * over a restart, it still reaches the actor. Its own fields have names that no handler can have.
 *
 * This function is copied from its text for each definition (function-copies.ts), so it must refer to nothing
 * outside itself.
 */
function buildRefClass(
  Base: typeof CellRef,
  idle: number,
  handlerNames: readonly string[],
  taken: readonly string[],
): RefClass {
  // Made by a function, not derived from one class: a constructor without `super` is inlined in the sender's
  // own code.
  const methods = () =>
    class {
      readonly '~ref': CellRef;
      constructor(ref: CellRef) {
        this['~ref'] = ref;
      }
    };
  const methodsOn = <Terms>() =>
    class {
      readonly '~ref': CellRef;
      readonly '~terms': Terms;
      constructor(ref: CellRef, terms: Terms) {
        this['~ref'] = ref;
        this['~terms'] = terms;
      }
    };
  const Tell = methods();
  const Offer = methods();
  const Send = methods();
  const Ask = methods();
  const TellAs = methodsOn<ActorCell>();
  const OfferAs = methodsOn<ActorCell>();
  const SendAs = methodsOn<CallTerms>();
  const AskAs = methodsOn<CallTerms>();
  const Timer = methodsOn<TimerTerms>();

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
    override offerAs(sender: ActorCell): object {
      return new OfferAs(this, sender);
    }
    override askAs(sender: ActorCell | undefined, options: AskOptions | undefined): object {
      return new AskAs(this, { sender, options });
    }
    override sendAs(sender: ActorCell | undefined, options: AskOptions | undefined): object {
      return new SendAs(this, { sender, options });
    }
    override timer(terms: TimerTerms): object {
      return new Timer(this, terms);
    }
  }
  class RefBesideTell extends Ref {
    override get tell(): object {
      return new Tell(this);
    }
  }
  const clashes = handlerNames.some((name) => name in Ref.prototype || taken.includes(name));

  const method = (
    owner: { readonly prototype: object },
    name: string,
    body: (payload?: unknown) => unknown,
  ) => {
    Object.defineProperty(owner.prototype, name, { value: body, writable: true, configurable: true });
  };

  handlerNames.forEach((name, handler) => {
    method(clashes ? Tell : Ref, name, function (this: Methods, payload?: unknown): void {
      const cell = this['~ref'].cell;
      // Not `delivery.tell`: the comment of `Delivery` says why.
      if (cell.status === idle) cell.type.delivery.wakeWith(cell, handler, payload);
      else cell.type.delivery.post(cell, handler, payload);
    });
    method(Ask, name, function (this: Methods, payload?: unknown): Promise<unknown> {
      const cell = this['~ref'].cell;
      return cell.type.runtime.asks.ask(cell, handler, payload);
    });
    method(Offer, name, function (this: Methods, payload?: unknown): Delivered {
      return this['~ref'].offerTo(handler, payload);
    });
    method(Send, name, function (this: Methods, payload?: unknown): Promise<void> {
      return this['~ref'].sendTo(handler, payload);
    });
    method(TellAs, name, function (this: MethodsOn<ActorCell>, payload?: unknown): void {
      this['~ref'].tellFrom(this['~terms'], handler, payload);
    });
    method(OfferAs, name, function (this: MethodsOn<ActorCell>, payload?: unknown): Delivered {
      return this['~ref'].offerFrom(this['~terms'], handler, payload);
    });
    method(SendAs, name, function (this: MethodsOn<CallTerms>, payload?: unknown): Promise<void> {
      return this['~ref'].sendFrom(this['~terms'], handler, payload);
    });
    method(AskAs, name, function (this: MethodsOn<CallTerms>, payload?: unknown): Promise<unknown> {
      return this['~ref'].askFrom(this['~terms'], handler, payload);
    });
    method(Timer, name, function (this: MethodsOn<TimerTerms>, payload?: unknown): ActorTimer {
      return this['~ref'].armTimer(this['~terms'], handler, payload);
    });
  });

  return clashes ? RefBesideTell : Ref;
}

const copies = new FunctionCopies(buildRefClass, rehearse);

/**
 * Beside the names on the prototype: the own field, and names that would make a ref a promise or change its
 * JSON.
 */
const TAKEN: readonly string[] = ['cell', 'then', 'toJSON'];

/** The ref class of a definition. */
export function makeRefClass(handlerNames: readonly string[]): RefClass {
  return copies.next()(CellRef, IDLE, handlerNames, TAKEN);
}

/** The same methods for a subclass that has its own targets. Not copied: choosing a target costs more. */
export function makeRefClassOn(Base: typeof CellRef, handlerNames: readonly string[]): RefClass {
  return buildRefClass(Base, IDLE, handlerNames, TAKEN);
}

/** Runs each method of a ref class once, with a cell that does nothing. */
function rehearse(build: typeof buildRefClass): void {
  const nothing = (): undefined => undefined;
  const delivery = { wakeWith: nothing, post: nothing, offer: nothing };
  const runtime = {
    asks: { ask: nothing, askAs: nothing, offerAs: nothing, tellAs: nothing },
    sends: { send: nothing, sendAs: nothing },
    timers: { arm: nothing },
  };
  const cellOf = (status: number) => ({ status, type: { delivery, runtime } }) as unknown as ActorCell;
  for (const name of ['x', 'path']) {
    const ref = new (build(CellRef, IDLE, [name], TAKEN))(cellOf(IDLE));
    const { tell, offer, send, ask } = ref as unknown as Record<string, object>;
    const asOthers = [
      ref.tellAs(ref.cell),
      ref.offerAs(ref.cell),
      ref.sendAs(undefined, undefined),
      ref.askAs(undefined, undefined),
      ref.timer({} as TimerTerms),
    ];
    for (const status of [IDLE, ~IDLE]) {
      ref.cell = cellOf(status);
      for (const methods of [tell, offer, send, ask, ...asOthers])
        (methods as Record<string, () => unknown>)[name]?.();
    }
  }
}
