import { actorName } from '../actor-name.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { LookupError, NameTakenError } from '../errors.js';
import { checkOption } from '../option-check.js';
import type { ActorCell } from './actor-cell.js';
import type { Parts } from './runtime-parts.js';

/**
 * Names of living actors. A path is unique among the living; an anonymous actor's path is its slot and
 * generation.
 */
export class NameRegistry {
  private readonly named = new Map<string, ActorCell['ref']>();
  private readonly watchers = new Map<string, Set<(ref: ActorCell['ref'] | undefined) => void>>();
  private readonly runtime: Parts<'guardian'>;

  constructor(runtime: NameRegistry['runtime']) {
    this.runtime = runtime;
  }

  /** Refuses a name that is illegal or taken, before anything is made. */
  checkFree(parent: ActorCell, name: string): void {
    checkOption('name', name, actorName);
    const path = this.join(parent, name);
    if (this.named.has(path)) throw new NameTakenError(path);
  }

  add(cell: ActorCell, name: string): void {
    cell.ensureCold().name = name;
    const path = this.pathOf(cell);
    this.named.set(path, cell.ref);
    this.notify(path);
  }

  remove(cell: ActorCell): void {
    if (cell.cold?.name === undefined) return;
    const path = this.pathOf(cell);
    if (this.named.get(path) !== cell.ref) return;
    this.named.delete(path);
    this.notify(path);
  }

  find(definition: AnyDefinition, path: string): ActorCell['ref'] | undefined {
    const absolute = path.startsWith('/') ? path : `/${path}`;
    const ref = this.named.get(absolute);
    if (ref === undefined) return undefined;
    if (!isOf(definition, ref))
      throw new LookupError(absolute, definition.name, ref.cell.type.definition.name);
    return ref;
  }

  /**
   * Calls back now and whenever an actor takes or leaves the name. Returns the function that ends the watch.
   */
  watch(path: string, onChange: (ref: ActorCell['ref'] | undefined) => void): () => void {
    const absolute = path.startsWith('/') ? path : `/${path}`;
    const all = this.watchers.get(absolute) ?? new Set();
    this.watchers.set(absolute, all);
    all.add(onChange);
    onChange(this.named.get(absolute));
    return () => {
      // A second call must not end watches that began since.
      if (all.delete(onChange) && all.size === 0) this.watchers.delete(absolute);
    };
  }

  pathOf(cell: ActorCell): string {
    if (cell === this.runtime.guardian) return '/';
    // An earlier incarnation has handed its name to the present one.
    const present = cell.ref.cell;
    const own = present.cold?.name ?? `$${present.id}`;
    const parent = present.parentRef;
    return parent === undefined ? `/${own}` : this.join(parent.cell, own);
  }

  private join(parent: ActorCell, name: string): string {
    return parent === this.runtime.guardian ? `/${name}` : `${this.pathOf(parent)}/${name}`;
  }

  /** Reads the name for each callback: an earlier one may have given it away, or begun or ended a watch. */
  private notify(path: string): void {
    const all = this.watchers.get(path);
    for (const onChange of [...(all ?? [])]) if (all?.has(onChange) === true) onChange(this.named.get(path));
  }
}

/** An actor of that definition, or a pool of such. */
export function isOf(definition: AnyDefinition, ref: ActorCell['ref']): boolean {
  const found = ref.cell.type.definition;
  return found === definition || found['~routees'] === definition;
}
