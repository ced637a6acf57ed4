import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { NoRouteeError, toError } from '../errors.js';
import type { Delivered } from '../mailbox/delivery.js';
import { RefBase, type TimerTerms } from '../ref/ref-class.js';
import type { ActorTimer } from '../ref/timer-methods.js';
import { firstReply, gatherReplies } from './gather-replies.js';
import type { Member, RouteeSelector } from './routee-selector.js';

/** What all routers of a definition have in common. The faces are in the class that `routerClassOf` makes. */
export abstract class RouterBase extends RefBase {
  readonly runtime: Parts<'asks' | 'deadLetters' | 'delivery' | 'diagnostics' | 'sends' | 'timers'>;
  readonly definition: AnyDefinition;
  /** Undefined: everyone gets everything. */
  selector: RouteeSelector | undefined = undefined;
  private members: readonly Member[] = [];

  constructor(cell: ActorCell, definition: AnyDefinition) {
    super(cell);
    this.runtime = cell.type.runtime;
    this.definition = definition;
  }

  setMembers(members: readonly Member[]): void {
    this.members = members;
    this.selector?.setMembers(members);
  }

  /** Those that take messages. */
  get routees(): readonly RefBase[] {
    return this.members.filter(({ ref }) => !ref.cell.isClosed).map(({ ref }) => ref);
  }

  messageOf(handler: number): string {
    return this.definition['~handlerNames'][handler] as string;
  }

  /** One routee, or why there is none. The key function is user code: what it throws must not reach the sender. */
  choose(handler: number, payload: unknown): RefBase | NoRouteeError {
    const message = this.messageOf(handler);
    try {
      const routee = this.selector?.select(message, payload) ?? this.routees[0];
      return routee ?? new NoRouteeError(this.path, message, 'none of them takes messages');
    } catch (thrown) {
      const error = toError(thrown);
      const { path } = this;
      this.runtime.diagnostics.log('error', `${path}.${message}: the routing failed: ${error.message}`, {
        path,
        message,
        error,
      });
      return new NoRouteeError(path, message, 'the routing failed', error);
    }
  }

  /** To everyone, or to the one who is chosen. */
  targetsOf(handler: number, payload: unknown): readonly RefBase[] {
    if (this.selector === undefined) return this.routees;
    const routee = this.choose(handler, payload);
    return routee instanceof NoRouteeError ? [] : [routee];
  }

  tellTo(targets: readonly RefBase[], handler: number, payload: unknown): void {
    if (targets.length === 0) this.runtime.deadLetters.unrouted(this.path, this.messageOf(handler), payload);
    for (const { cell } of targets) cell.type.delivery.tell(cell, handler, payload);
  }

  offerTo(targets: readonly RefBase[], handler: number, payload: unknown): Delivered {
    const answers = targets.map(({ cell }) => cell.type.delivery.offer(cell, handler, payload));
    if (answers.includes('accepted')) return 'accepted';
    return answers.includes('full') ? 'full' : 'closed';
  }

  async sendTo(handler: number, payload: unknown, signal: AbortSignal | undefined): Promise<void> {
    const targets = this.targetsOf(handler, payload);
    if (targets.length === 0)
      throw new NoRouteeError(this.path, this.messageOf(handler), 'none takes messages');
    await Promise.all(targets.map((target) => this.runtime.sends.send(target, handler, payload, signal)));
  }

  askOne(
    sender: ActorCell | undefined,
    handler: number,
    payload: unknown,
    withinMs: number | undefined,
  ): Promise<unknown> {
    if (this.selector === undefined) return firstReply(this, sender, handler, payload, withinMs);
    const routee = this.choose(handler, payload);
    if (routee instanceof NoRouteeError) return Promise.reject(routee);
    return this.runtime.asks.askAs(sender, routee.cell, handler, payload, withinMs);
  }
}

interface AskTerms {
  readonly sender: ActorCell | undefined;
  readonly withinMs: number | undefined;
}

/** What a face holds has names that no handler can have. */
class Face {
  readonly '~router': RouterBase;
  constructor(router: RouterBase) {
    this['~router'] = router;
  }
}

class FaceAs<Terms> extends Face {
  readonly '~terms': Terms;
  constructor(router: RouterBase, terms: Terms) {
    super(router);
    this['~terms'] = terms;
  }
}

/** A router with its faces. */
export interface FacedRouter extends RouterBase {
  tellAs(sender: ActorCell): object;
  askAs(sender: ActorCell | undefined, withinMs: number | undefined): object;
  timer(terms: TimerTerms): object;
}

export type RouterClass = new (cell: ActorCell, definition: AnyDefinition) => FacedRouter;

const classes = new WeakMap<AnyDefinition, RouterClass>();

/** One method per handler on each face, made once per definition; no `Proxy`, as with refs. */
export function routerClassOf(definition: AnyDefinition): RouterClass {
  const known = classes.get(definition);
  if (known !== undefined) return known;
  const made = makeRouterClass(definition['~handlerNames']);
  classes.set(definition, made);
  return made;
}

function makeRouterClass(handlerNames: readonly string[]): RouterClass {
  class Tell extends Face {}
  class Offer extends Face {}
  class Send extends Face {}
  class All extends Face {}
  class TellAs extends FaceAs<ActorCell> {}
  class AskAs extends FaceAs<AskTerms> {}
  class Gather extends FaceAs<AskTerms> {}
  class First extends FaceAs<AskTerms> {}
  class TimerAs extends FaceAs<TimerTerms> {}

  handlerNames.forEach((name, handler) => {
    method(Tell, name, function (this: Tell, payload?: unknown): void {
      this['~router'].tellTo(this['~router'].targetsOf(handler, payload), handler, payload);
    });
    method(All, name, function (this: All, payload?: unknown): void {
      this['~router'].tellTo(this['~router'].routees, handler, payload);
    });
    method(Offer, name, function (this: Offer, payload?: unknown): Delivered {
      return this['~router'].offerTo(this['~router'].targetsOf(handler, payload), handler, payload);
    });
    method(Send, name, function (this: Send, payload?: unknown, signal?: AbortSignal): Promise<void> {
      return this['~router'].sendTo(handler, payload, signal);
    });
    method(TellAs, name, function (this: TellAs, payload?: unknown): void {
      const { '~router': router, '~terms': terms } = this;
      const targets = router.targetsOf(handler, payload);
      if (targets.length === 0) router.tellTo(targets, handler, payload);
      for (const { cell } of targets) router.runtime.asks.tellAs(terms, cell, handler, payload);
    });
    method(AskAs, name, function (this: AskAs, payload?: unknown): Promise<unknown> {
      return this['~router'].askOne(this['~terms'].sender, handler, payload, this['~terms'].withinMs);
    });
    method(Gather, name, function (this: Gather, payload?: unknown): Promise<unknown> {
      return gatherReplies(this['~router'], this['~terms'].sender, handler, payload, this['~terms'].withinMs);
    });
    method(First, name, function (this: First, payload?: unknown): Promise<unknown> {
      return firstReply(this['~router'], this['~terms'].sender, handler, payload, this['~terms'].withinMs);
    });
    method(TimerAs, name, function (this: TimerAs, payload?: unknown): ActorTimer {
      const routee = this['~router'].choose(handler, payload);
      if (routee instanceof NoRouteeError) throw routee;
      return this['~router'].runtime.timers.arm(this['~terms'], routee, handler, payload);
    });
  });

  return class Router extends RouterBase {
    get tell(): Tell {
      return new Tell(this);
    }
    get offer(): Offer {
      return new Offer(this);
    }
    get send(): Send {
      return new Send(this);
    }
    get ask(): AskAs {
      return this.askAs(this.runtime.delivery.sender, undefined);
    }
    get all(): All {
      return new All(this);
    }
    gather(options?: { readonly withinMs?: number }): Gather {
      return new Gather(this, { sender: this.runtime.delivery.sender, withinMs: options?.withinMs });
    }
    first(options?: { readonly withinMs?: number }): First {
      return new First(this, { sender: this.runtime.delivery.sender, withinMs: options?.withinMs });
    }
    override tellAs(sender: ActorCell): TellAs {
      return new TellAs(this, sender);
    }
    override askAs(sender: ActorCell | undefined, withinMs: number | undefined): AskAs {
      return new AskAs(this, { sender, withinMs });
    }
    override timer(terms: TimerTerms): TimerAs {
      return new TimerAs(this, terms);
    }
  };
}

function method(
  face: { readonly prototype: object },
  name: string,
  body: (payload?: unknown, signal?: AbortSignal) => unknown,
): void {
  Object.defineProperty(face.prototype, name, { value: body, writable: true, configurable: true });
}
