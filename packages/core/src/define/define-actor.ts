import type { ActorCell } from '../actor/actor-cell.js';
import { MisuseError } from '../errors.js';
import type { ActorRef } from '../ref/actor-ref.js';
import { makeRefClass } from '../ref/ref-class.js';
import type { ActorContext } from './actor-context.js';
import type {
  ActorDefinition,
  ActorSpec,
  HandlersFor,
  LooseSpec,
  NoPhases,
  WithPhases,
} from './actor-definition.js';
import { checkDefinition } from './check-definition.js';

/**
 * Defines an actor. The definition is the contract: names, payloads and replies are inferred from the
 * handlers, and a ref has exactly these methods.
 */
export function defineActor<
  const H extends HandlersFor<S, Phase>,
  S = undefined,
  A = void,
  const P extends Readonly<Record<string, HandlersFor<S, Phase>>> = NoPhases,
  Phase extends string = never,
>(name: string, spec: ActorSpec<S, A, H, P, Phase>): ActorDefinition<WithPhases<H, P>, S, A> {
  const loose = spec as unknown as LooseSpec;
  checkDefinition(name, loose);
  const handlerNames = [
    ...new Set([
      ...Object.keys(loose.handlers),
      ...Object.values(loose.phases ?? {}).flatMap((phase) => Object.keys(phase)),
    ]),
  ];
  const definition: ActorDefinition<WithPhases<H, P>, S, A> = {
    name,
    self(ctx: ActorContext<S>): ActorRef<ActorDefinition<WithPhases<H, P>, S, A>> {
      const cell = ctx as unknown as ActorCell;
      if (cell.type.definition !== definition) {
        throw new MisuseError(`${name}.self: the context belongs to a ${cell.type.name}`);
      }
      return cell.ref as unknown as ActorRef<ActorDefinition<WithPhases<H, P>, S, A>>;
    },
    '~spec': loose,
    '~refClass': makeRefClass(handlerNames),
    '~handlerNames': handlerNames,
  };
  return definition;
}
