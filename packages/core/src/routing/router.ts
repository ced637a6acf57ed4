import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { checkIsDefinition } from '../define/check-definition.js';
import { MisuseError, OptionError } from '../errors/error-classes.js';
import { array, checkOption } from '../option-check.js';
import type { ActorRef } from '../ref/actor-ref.js';
import { CellRef } from '../ref/cell-ref.js';
import { type DirectRouting, selectorFor } from './routee-selector.js';
import { type RouterBase, routerClassOf } from './router-class.js';
import type { RouterRef } from './router-ref.js';
import { type Routing, routingRule } from './routing-option.js';

/** Routings that need no pool behind them. */
export type GroupRouting = Exclude<Routing, { readonly pull: unknown }>;

/**
 * One address for actors that exist already. It owns none of them and is not an actor itself: it cannot be
 * watched or stopped. Routees that have ended are skipped.
 */
export function router<D extends AnyDefinition>(
  definition: D,
  routees: readonly ActorRef<D>[],
  routing: GroupRouting = 'round-robin',
): RouterRef<D> {
  checkIsDefinition(definition);
  checkOption('router.routees', routees, array);
  checkOption('router.routing', routing, routingRule);
  if (typeof routing === 'object' && 'pull' in routing)
    throw new OptionError('router.routing', routing, 'needed a routing without pull, which needs a pool');
  const refs = routees as unknown as readonly CellRef[];
  const [first] = refs;
  if (first === undefined) throw new OptionError('router.routees', routees, 'needed at least one routee');
  const names = definition['~handlerNames'];
  for (const ref of refs) checkMessages(names, ref);
  const { host } = first.cell.type.runtime;
  const made = new (groupClassOf(definition))(first.cell, definition, refs.length);
  if (routing !== 'broadcast') made.selector = selectorFor(routing as DirectRouting, () => host.random());
  made.setMembers(refs.map((ref, serial) => ({ ref, serial })));
  return made as unknown as RouterRef<D>;
}

type GroupClass = new (cell: ActorCell, definition: AnyDefinition, size: number) => RouterBase;

const classes = new WeakMap<AnyDefinition, GroupClass>();

function groupClassOf(definition: AnyDefinition): GroupClass {
  const known = classes.get(definition) ?? makeGroupClass(definition);
  classes.set(definition, known);
  return known;
}

function makeGroupClass(definition: AnyDefinition): GroupClass {
  return class extends routerClassOf(definition) {
    private readonly title: string;

    constructor(cell: ActorCell, of: AnyDefinition, size: number) {
      super(cell, of);
      this.title = `router of ${size} ${of.name}`;
      const title = this.title;
      // In place of the field of every ref: any use as an actor is an error.
      Object.defineProperty(this, 'cell', {
        get(): ActorCell {
          throw new MisuseError(`${title}: is not an actor; watch, suspend or stop its routees`);
        },
      });
    }

    override get path(): string {
      return this.title;
    }

    override get id(): string {
      return this.title;
    }

    override '~isOf'(other: AnyDefinition): boolean {
      return other === definition;
    }

    override toString(): string {
      return this.title;
    }
  };
}

/** Messages travel as numbers: a routee must have the same messages in the same order. */
function checkMessages(names: readonly string[], ref: CellRef): void {
  if (!(ref instanceof CellRef)) throw new OptionError('router.routees', ref, 'needed refs of actors');
  const own = ref.cell.type.definition['~handlerNames'];
  if (names.length === own.length && names.every((name, at) => own[at] === name)) return;
  throw new OptionError('router.routees', ref.path, `needed an actor with the messages ${names.join(', ')}`);
}
