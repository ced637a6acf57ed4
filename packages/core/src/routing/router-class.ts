import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { NoRouteeError } from '../errors/error-classes.js';
import { toError } from '../errors/thrown-value.js';
import type { Delivered } from '../mailbox/delivery.js';
import type { AskOptions } from '../ref/actor-ref.js';
import { type CallTerms, checkCallOptions } from '../ref/call-options.js';
import { CellRef, type TimerTerms } from '../ref/cell-ref.js';
import { makeRefClassOn } from '../ref/make-ref-class.js';
import type { ActorTimer } from '../ref/timer-methods.js';
import { firstReply, gatherReplies } from './gather-replies.js';
import type { Member, RouteeSelector } from './routee-selector.js';

/** A ref with several targets. `routerClassOf` adds the methods of a definition's handlers. */
export abstract class RouterBase extends CellRef {
  readonly runtime: Parts<'asks' | 'deadLetters' | 'delivery' | 'log' | 'sends' | 'timers'>;
  readonly definition: AnyDefinition;
  /** Undefined: every routee gets every message. */
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

  /** The routees that take messages. */
  get routees(): readonly CellRef[] {
    return this.members.filter(({ ref }) => !ref.cell.isClosed).map(({ ref }) => ref);
  }

  messageOf(handler: number): string {
    return this.definition['~handlerNames'][handler] as string;
  }

  /**
   * One routee, or why there is none. The key function is user code: what it throws must not reach the
   * sender.
   */
  choose(handler: number, payload: unknown): CellRef | NoRouteeError {
    const message = this.messageOf(handler);
    try {
      const routee = this.selector?.select(message, payload) ?? this.routees[0];
      return routee ?? new NoRouteeError(this.path, message, 'no routee takes messages');
    } catch (thrown) {
      const error = toError(thrown);
      const { path } = this;
      this.runtime.log.write('error', `${path}.${message}: the routing failed: ${error.message}`, {
        path,
        message,
        error,
      });
      return new NoRouteeError(path, message, 'the routing failed', error);
    }
  }

  /** All routees, or the chosen one. */
  targetsOf(handler: number, payload: unknown): readonly CellRef[] {
    if (this.selector === undefined) return this.routees;
    const routee = this.choose(handler, payload);
    return routee instanceof NoRouteeError ? [] : [routee];
  }

  tellTo(targets: readonly CellRef[], handler: number, payload: unknown): void {
    if (targets.length === 0) this.runtime.deadLetters.unrouted(this.path, this.messageOf(handler), payload);
    for (const { cell } of targets) cell.type.delivery.tell(cell, handler, payload);
  }

  override tellFrom(sender: ActorCell, handler: number, payload: unknown): void {
    const targets = this.targetsOf(handler, payload);
    if (targets.length === 0) this.tellTo(targets, handler, payload);
    for (const { cell } of targets) this.runtime.asks.tellAs(sender, cell, handler, payload);
  }

  override offerTo(handler: number, payload: unknown): Delivered {
    const targets = this.targetsOf(handler, payload);
    return outcomeOf(targets.map(({ cell }) => cell.type.delivery.offer(cell, handler, payload)));
  }

  override offerFrom(sender: ActorCell, handler: number, payload: unknown): Delivered {
    const targets = this.targetsOf(handler, payload);
    return outcomeOf(targets.map(({ cell }) => this.runtime.asks.offerAs(sender, cell, handler, payload)));
  }

  override sendTo(handler: number, payload: unknown): Promise<void> {
    return this.sendFrom(this.termsOf(undefined), handler, payload);
  }

  override async sendFrom(terms: CallTerms, handler: number, payload: unknown): Promise<void> {
    const targets = this.targetsOf(handler, payload);
    if (targets.length === 0)
      throw new NoRouteeError(this.path, this.messageOf(handler), 'no routee takes messages');
    await Promise.all(targets.map((target) => this.runtime.sends.sendAs(terms, target, handler, payload)));
  }

  override askFrom(terms: CallTerms, handler: number, payload: unknown): Promise<unknown> {
    if (this.selector === undefined) return firstReply(this, terms, handler, payload);
    const routee = this.choose(handler, payload);
    if (routee instanceof NoRouteeError) return Promise.reject(routee);
    return this.runtime.asks.askAs(terms.sender, routee.cell, handler, payload, terms.options);
  }

  override armTimer(terms: TimerTerms, handler: number, payload: unknown): ActorTimer {
    const routee = this.choose(handler, payload);
    if (routee instanceof NoRouteeError) throw routee;
    return this.runtime.timers.arm(terms, routee, handler, payload);
  }

  override get running(): ActorCell | undefined {
    return this.runtime.delivery.sender;
  }

  /** An ask is attributed to the actor whose handler is running. */
  termsOf(options: AskOptions | undefined): CallTerms {
    return { sender: this.running, options };
  }
}

function outcomeOf(answers: readonly Delivered[]): Delivered {
  if (answers.includes('accepted')) return 'accepted';
  return answers.includes('full') ? 'full' : 'closed';
}

/** A router with the methods of a definition's handlers. */
export interface RouterWithMethods extends RouterBase {
  tellAs(sender: ActorCell): object;
  offerAs(sender: ActorCell): object;
  askAs(sender: ActorCell | undefined, options: AskOptions | undefined): object;
  sendAs(sender: ActorCell | undefined, options: AskOptions | undefined): object;
  timer(terms: TimerTerms): object;
}

export type RouterClass = new (cell: ActorCell, definition: AnyDefinition) => RouterWithMethods;

const classes = new WeakMap<AnyDefinition, RouterClass>();

/** One class per definition; no `Proxy`, as with refs. */
export function routerClassOf(definition: AnyDefinition): RouterClass {
  const known = classes.get(definition);
  if (known !== undefined) return known;
  const made = makeRouterClass(definition['~handlerNames']);
  classes.set(definition, made);
  return made;
}

/** The methods of a ref with the targets of a router, and those that only a router has. */
function makeRouterClass(handlerNames: readonly string[]): RouterClass {
  const Tell = methodsOf<undefined>(handlerNames, (router, _, handler, payload) =>
    router.tellTo(router.targetsOf(handler, payload), handler, payload),
  );
  const All = methodsOf<undefined>(handlerNames, (router, _, handler, payload) =>
    router.tellTo(router.routees, handler, payload),
  );
  const Gather = methodsOf<CallTerms>(handlerNames, gatherReplies);
  const First = methodsOf<CallTerms>(handlerNames, firstReply);
  // The class that is built on RouterBase takes the same arguments.
  const WithMethods = makeRefClassOn(
    RouterBase as unknown as typeof CellRef,
    handlerNames,
  ) as unknown as RouterClass;

  return class Router extends WithMethods {
    get tell(): object {
      return new Tell(this, undefined);
    }
    get ask(): object {
      return this.askAs(this.running, undefined);
    }
    get all(): object {
      return new All(this, undefined);
    }
    gather(options?: AskOptions): object {
      checkCallOptions('gather', options);
      return new Gather(this, this.termsOf(options));
    }
    first(options?: AskOptions): object {
      checkCallOptions('first', options);
      return new First(this, this.termsOf(options));
    }
  };
}

/** A class of objects with one method per handler. Their own fields have names that no handler can have. */
function methodsOf<Terms>(
  handlerNames: readonly string[],
  call: (router: RouterBase, terms: Terms, handler: number, payload: unknown) => unknown,
): new (
  router: RouterBase,
  terms: Terms,
) => object {
  class Methods {
    readonly '~router': RouterBase;
    readonly '~terms': Terms;
    constructor(router: RouterBase, terms: Terms) {
      this['~router'] = router;
      this['~terms'] = terms;
    }
  }
  handlerNames.forEach((name, handler) => {
    const value = function (this: Methods, payload?: unknown): unknown {
      return call(this['~router'], this['~terms'], handler, payload);
    };
    Object.defineProperty(Methods.prototype, name, { value, writable: true, configurable: true });
  });
  return Methods;
}
