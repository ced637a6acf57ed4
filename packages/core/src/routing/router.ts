import type { ActorCell } from '../actor/cell.js';
import type { AnyDefinition } from '../actor/definition.js';
import type { ActorRef } from '../actor/ref.js';
import type { RefBase } from '../actor/ref-class.js';
import { MisuseError, OptionError } from '../errors.js';
import { type DirectRouting, pickerFor } from './picker.js';
import { routerClassOf } from './router-class.js';
import type { RouterRef } from './router-face.js';
import type { Routing } from './routing.js';

/** Routings that need no pool behind them. */
export type GroupRouting = Exclude<Routing, { readonly pull: unknown }>;

/**
 * One address for actors that exist already. It owns none of them and is no actor itself: it cannot be watched or
 * stopped. Those that have ended are passed over.
 */
export function router<D extends AnyDefinition>(
  definition: D,
  routees: readonly ActorRef<D>[],
  routing: GroupRouting = 'round-robin',
): RouterRef<D> {
  const refs = routees as unknown as readonly RefBase[];
  const [first] = refs;
  if (first === undefined) throw new OptionError('router.routees', routees, 'needed at least one routee');
  const names = definition['~handlerNames'];
  for (const ref of refs) mustOffer(names, ref);
  const { host } = first.cell.kind.runtime;
  const picker =
    routing === 'broadcast' ? undefined : pickerFor(routing as DirectRouting, () => host.random());
  const made = new (routerClassOf(definition))(first.cell, definition, picker);
  made.use(refs.map((ref, serial) => ({ ref, serial })));
  const path = `router of ${refs.length} ${definition.name}`;
  Object.defineProperties(made, {
    path: { value: path },
    id: { value: path },
    toString: { value: () => path },
    cell: {
      get(): ActorCell {
        throw new MisuseError(`${path}: is no actor; watch, suspend or stop its routees`);
      },
    },
  });
  return made as unknown as RouterRef<D>;
}

/** Messages travel as numbers: a routee must have the same messages in the same order. */
function mustOffer(names: readonly string[], ref: RefBase): void {
  const own = ref.cell.kind.definition['~handlerNames'];
  if (names.length === own.length && names.every((name, at) => own[at] === name)) return;
  throw new OptionError('router.routees', ref.path, `needed an actor with the messages ${names.join(', ')}`);
}
