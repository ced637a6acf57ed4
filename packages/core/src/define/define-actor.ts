import type { ActorCell } from '../actor/actor-cell.js';
import { MisuseError } from '../errors/error-classes.js';
import type { ActorRef } from '../ref/actor-ref.js';
import { CellRef } from '../ref/cell-ref.js';
import { makeRefClass } from '../ref/make-ref-class.js';
import {
  type ActorDefinition,
  type ActorSpec,
  type AnyDefinition,
  type HandlerMap,
  type HandlersFor,
  type LooseLayouts,
  type LooseSpec,
  type MakeState,
  type NoLayouts,
  type NoPhases,
  PHASE_HOOKS,
  type WithPhases,
} from './actor-definition.js';
import { checkDefinition } from './check-definition.js';
import { moduleOf } from './definition-module.js';
import type { CheckedHandlers, CheckedPhases, LaidOutHandlers } from './handler-type-checks.js';
import type {
  Actor,
  NameIfComplete,
  OnlyMessagesOf,
  PhaseOfProtocol,
  ProtocolHandlers,
  ProtocolRule,
  ProtocolSpec,
} from './protocol.js';

/**
 * Defines an actor. The definition is the contract: names, payloads and replies are inferred from the
 * handlers, and a ref has exactly these methods.
 */
export function defineActor<
  const H extends HandlersFor<S, Phase> & CheckedHandlers<H> & LaidOutHandlers<H, L>,
  S = undefined,
  A = void,
  const P extends Readonly<Record<string, HandlersFor<S, Phase>>> & CheckedPhases<P> = NoPhases,
  Phase extends string = never,
  const L extends LooseLayouts = NoLayouts,
>(
  name: string,
  spec: ActorSpec<S, A, H, P, Phase> & { readonly layouts?: L | undefined },
): ActorDefinition<WithPhases<H, P>, S, A> {
  return makeDefinition(name, spec) as unknown as ActorDefinition<WithPhases<H, P>, S, A>;
}

/** A definition whose types its maker knows. */
export function makeDefinition(name: string, spec: object, makeState?: MakeState): AnyDefinition {
  const loose = spec as LooseSpec;
  checkDefinition(name, loose);
  const handlerNames = [
    ...new Set([
      ...Object.keys(loose.handlers),
      ...Object.values(loose.phases ?? {}).flatMap((phase) =>
        Object.keys(phase).filter((key) => !PHASE_HOOKS.includes(key)),
      ),
    ]),
  ];
  const definition: ActorDefinition<HandlerMap, unknown, unknown> = {
    name,
    self(ctx) {
      const cell = ctx as unknown as ActorCell;
      if (cell.type.definition !== definition) {
        throw new MisuseError(`${name}.self: the context belongs to a ${cell.type.name}`);
      }
      return cell.ref as unknown as ActorRef<typeof definition>;
    },
    is(ref): ref is ActorRef<typeof definition> {
      return ref instanceof CellRef && ref['~isOf'](definition);
    },
    '~spec': loose,
    '~refClass': makeRefClass(handlerNames),
    '~handlerNames': handlerNames,
    '~makeState': makeState,
    '~module': moduleOf(loose.module),
  };
  return definition;
}

/**
 * Defines an actor by its protocol, an interface of messages: payloads need no annotations, `ctx.self` has
 * the messages, a missing handler does not compile, and actors may know each other's protocols.
 *
 *     interface Adder { add(n: number): number }
 *     const Adder: Actor<Adder> = defineActor.of<Adder>()('adder', { handlers: { … } });
 */
defineActor.of =
  <P extends ProtocolRule<P>>(): DefineByProtocol<P> =>
  (name, spec) =>
    makeDefinition(name, spec) as Actor<P, unknown> as never;

/** `defineActor` for one protocol; state and arguments are inferred. */
export type DefineByProtocol<P extends ProtocolRule<P>> = <
  const H extends OnlyMessagesOf<P, S, Phase, H>,
  S = undefined,
  A = void,
  const Phases extends Readonly<Record<string, PhaseOfProtocol<P, S, Phase>>> = NoPhases,
  Phase extends string = never,
>(
  name: NameIfComplete<P, H, Phases>,
  spec: ProtocolSpec<P, S, A, H, Phases, Phase>,
) => ActorDefinition<ProtocolHandlers<P>, S, A>;
