import { actorName } from '../actor-name-rule.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { checkIsDefinition } from '../define/check-definition.js';
import { LookupError, NameTakenError, OptionError } from '../errors/error-classes.js';
import { checkOption } from '../option-check.js';
import type { ActorCell } from './actor-cell.js';
import type { ActorType } from './actor-type.js';
import type { Parts } from './runtime-parts.js';

/** The end of an anonymous actor's path: its slot and, if others had the slot before, its generation. */
const NUMBERED = /-(\d{1,10})(?:\.(\d{1,10}))?$/;

/**
 * Names of living actors. A path is unique among the living. An anonymous actor is called after its
 * definition and its number, `account-17`; the number is unique for ever in its system. A name of that form
 * is refused while an anonymous sibling has it, and an anonymous actor skips a number that a sibling's name
 * has taken.
 */
export class NameRegistry {
  private readonly named = new Map<string, ActorCell['ref']>();
  private readonly watchers = new Map<string, Set<(ref: ActorCell['ref'] | undefined) => void>>();
  /** How many living actors have a name that ends in the number of this slot. */
  private readonly numbered = new Map<number, number>();
  private readonly runtime: Parts<'guardian' | 'ready' | 'remote'>;

  constructor(runtime: NameRegistry['runtime']) {
    this.runtime = runtime;
  }

  /** Refuses a name that is illegal or taken, before anything is made. */
  checkFree(parent: ActorCell, name: string): void {
    checkOption('name', name, actorName);
    const path = this.join(parent, name);
    if (this.named.has(path) || this.isAnonymous(path)) throw new NameTakenError(path);
  }

  /** Whether an anonymous actor in that slot would have the path of a living sibling. */
  isTaken(parent: ActorCell, type: ActorType, slot: number): boolean {
    if (this.numbered.size === 0 || !this.numbered.has(slot)) return false;
    const generation = this.runtime.ready.slots.generationOf(slot);
    return this.named.has(this.join(parent, anonymousName(type, slot, generation)));
  }

  add(cell: ActorCell, name: string): void {
    cell.ensureCold().name = name;
    const path = this.pathOf(cell);
    this.named.set(path, cell.ref);
    this.countNumber(name, 1);
    this.runtime.remote?.nameTaken(path, cell);
    this.notify(path);
  }

  remove(cell: ActorCell): void {
    if (cell.cold?.name === undefined) return;
    const path = this.pathOf(cell);
    if (this.named.get(path) !== cell.ref) return;
    this.named.delete(path);
    this.countNumber(cell.cold.name, -1);
    this.runtime.remote?.nameLeft(path);
    this.notify(path);
  }

  /** The living actor of that name. */
  lookup(definition: AnyDefinition, path: string): ActorCell['ref'] | undefined {
    checkIsDefinition(definition);
    if (typeof path !== 'string') throw new OptionError('lookup.path', path, 'needed a string');
    const absolute = path.startsWith('/') ? path : `/${path}`;
    const ref = this.refAt(absolute);
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
    onChange(this.refAt(absolute));
    return () => {
      // A second call must not end watches that began since.
      if (all.delete(onChange) && all.size === 0) this.watchers.delete(absolute);
    };
  }

  pathOf(cell: ActorCell): string {
    if (cell === this.runtime.guardian) return '/';
    // An earlier incarnation has handed its name to the present one.
    const present = cell.ref.cell;
    const elsewhere = present.cold?.home?.path ?? present.cold?.route?.path;
    if (elsewhere !== undefined) return elsewhere;
    const own = present.cold?.name ?? anonymousName(present.type, present.slot, present.generation);
    const parent = present.parentRef;
    return parent === undefined ? `/${own}` : this.join(parent.cell, own);
  }

  private isAnonymous(path: string): boolean {
    const number = NUMBERED.exec(path);
    if (number === null) return false;
    const [, slot, generation = '0'] = number;
    const cell = this.runtime.ready.slots.find(Number(slot), Number(generation));
    return cell !== undefined && cell.cold?.name === undefined && this.pathOf(cell) === path;
  }

  private countNumber(name: string, change: 1 | -1): void {
    const slot = NUMBERED.exec(name)?.[1];
    if (slot === undefined) return;
    const count = (this.numbered.get(Number(slot)) ?? 0) + change;
    if (count === 0) this.numbered.delete(Number(slot));
    else this.numbered.set(Number(slot), count);
  }

  private join(parent: ActorCell, name: string): string {
    return parent === this.runtime.guardian ? `/${name}` : `${this.pathOf(parent)}/${name}`;
  }

  /** Reads the name for each callback: an earlier one may have given it away, or begun or ended a watch. */
  notify(path: string): void {
    const all = this.watchers.get(path);
    for (const onChange of [...(all ?? [])]) if (all?.has(onChange) === true) onChange(this.refAt(path));
  }

  /** On this thread or another. */
  private refAt(path: string): ActorCell['ref'] | undefined {
    return this.named.get(path) ?? this.runtime.remote?.refNamed(path);
  }
}

function anonymousName(type: ActorType, slot: number, generation: number): string {
  return `${type.pathName}-${slot}${generation === 0 ? '' : `.${generation}`}`;
}

/** An actor of that definition, or a pool of such. */
export function isOf(definition: AnyDefinition, ref: ActorCell['ref']): boolean {
  return ref['~isOf'](definition);
}
