import type { ActorContext } from '../define/actor-context.js';
import type { ActorDefinition, ActorSpec, HandlersFor } from '../define/actor-definition.js';
import { makeDefinition } from '../define/define-actor.js';
import { MisuseError, OptionError } from '../errors/error-classes.js';
import type { RefOf } from '../ref/actor-ref.js';

type Method<F> = F extends (...payload: infer P) => unknown
  ? P['length'] extends 0 | 1
    ? true
    : false
  : false;

/** The methods of an object that take nothing or one thing, as handlers. */
export type MethodHandlers<T> = {
  readonly [K in keyof T as Method<T[K]> extends true ? Extract<K, string> : never]: T[K] extends (
    ...payload: infer P
  ) => infer R
    ? (ctx: ActorContext<T>, ...payload: P) => R
    : never;
};

/**
 * The context of a class actor, for the second parameter of its constructor. It belongs to one object: a
 * restart makes a new object with a new context, and the old one is refused. `ctx.self` has the messages of
 * the class.
 */
export type ClassContext<T> = ActorContext<T, never, RefOf<MethodHandlers<T>>>;

/** Everything else an actor may have; in hooks, `ctx.state` is the object. */
export type ClassOptions<T, A> = Omit<
  ActorSpec<T, A, HandlersFor<T>>,
  'state' | 'handlers' | 'phases' | 'retryable'
>;

const OF_THE_CLASS = ['state', 'handlers', 'phases', 'retryable'];

/**
 * A class as an actor: a restart makes a new object, each method of at most one parameter is a message. The
 * constructor gets the arguments and the context, which the methods use. Only the actor may hold the object:
 * a call around the mailbox is not one at a time.
 */
export function fromClass<T extends object, A = void>(
  name: string,
  Class: new (args: A, ctx: ClassContext<T>) => T,
  options: ClassOptions<T, A> = {},
): ActorDefinition<MethodHandlers<T>, T, A> {
  for (const option of OF_THE_CLASS)
    if (Object.hasOwn(options, option))
      throw new OptionError(`${name}.${option}`, options[option as never], 'the class gives it');
  const handlers = Object.fromEntries(
    methodsOf(Class.prototype as object).map((method) => [
      method,
      (ctx: ActorContext<T>, payload: unknown) =>
        (ctx.state as Record<string, (payload: unknown) => unknown>)[method]?.(payload),
    ]),
  );
  if (Object.keys(handlers).length === 0)
    throw new MisuseError(`${name}: the class has no method that could be a message`);
  const makeState = (args: unknown, ctx: ActorContext): T => new Class(args as A, ctx as ClassContext<T>);
  // The handlers were made from T's own methods, so they are those of the type.
  return makeDefinition(name, { ...options, handlers }, makeState) as ActorDefinition<
    MethodHandlers<T>,
    T,
    A
  >;
}

/** Inherited methods too; the lowest declaration in the chain counts. */
function methodsOf(prototype: object): string[] {
  const found = new Set<string>();
  for (let at = prototype; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at) as object) {
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (key !== 'constructor' && typeof value === 'function' && value.length <= 1) found.add(key);
    }
  }
  return [...found];
}
