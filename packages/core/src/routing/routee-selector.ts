import { AWAITING, FAULT, MUTED, SCHEDULED, SUSPENDED } from '../mailbox/status-word.js';
import type { CellRef } from '../ref/cell-ref.js';
import { HashRing } from './hash-ring.js';
import type { KeyOf, Routing } from './routing.js';

/** A routee and the number that it keeps for its life in the pool. */
export interface Member {
  readonly ref: CellRef;
  readonly serial: number;
}

/** Chooses a routee that takes messages, or undefined when there is none. */
export interface RouteeSelector {
  select(message: string, payload: unknown): CellRef | undefined;
  /** The routees have changed. */
  setMembers(members: readonly Member[]): void;
}

/** Routings by which the router itself chooses one routee. */
export type DirectRouting = Exclude<Routing, 'broadcast' | { readonly pull: unknown }>;

export function selectorFor(routing: DirectRouting, random: () => number): RouteeSelector {
  switch (routing) {
    case 'round-robin':
      return new Rotation((turn) => turn + 1);
    case 'random':
      return new Rotation((_turn, count) => Math.floor(random() * count));
    case 'least-loaded':
      return new LeastLoaded();
    default:
      return new ByKey(routing.hash);
  }
}

function isOpen(ref: CellRef): boolean {
  return !ref.cell.isClosed;
}

/** Takes the first open routee from an index chosen by `next`. */
class Rotation implements RouteeSelector {
  private members: readonly Member[] = [];
  private turn = -1;
  private readonly next: (turn: number, count: number) => number;

  constructor(next: (turn: number, count: number) => number) {
    this.next = next;
  }

  setMembers(members: readonly Member[]): void {
    this.members = members;
  }

  select(): CellRef | undefined {
    const { members } = this;
    const count = members.length;
    if (count === 0) return undefined;
    const first = this.next(this.turn, count);
    for (let i = 0; i < count; i += 1) {
      const at = (first + i) % count;
      const { ref } = members[at] as Member;
      if (!isOpen(ref)) continue;
      this.turn = at;
      return ref;
    }
    return undefined;
  }
}

/** The load of a routee that cannot run now. */
const BLOCKED_LOAD = 1_000_000;

class LeastLoaded implements RouteeSelector {
  private members: readonly Member[] = [];
  private turn = 0;

  setMembers(members: readonly Member[]): void {
    this.members = members;
  }

  /** Starts one index further every time, so that equally loaded routees take turns. */
  select(): CellRef | undefined {
    const { members } = this;
    const count = members.length;
    let best: CellRef | undefined;
    let least = Number.POSITIVE_INFINITY;
    this.turn += 1;
    for (let i = 0; i < count; i += 1) {
      const { ref } = members[(this.turn + i) % count] as Member;
      if (!isOpen(ref)) continue;
      const load = loadOf(ref);
      if (load < least) {
        least = load;
        best = ref;
      }
    }
    return best;
  }
}

function loadOf({ cell }: CellRef): number {
  const { status } = cell;
  const busy = (status & (SCHEDULED | AWAITING)) === 0 ? 0 : 1;
  return cell.queue.length + busy + ((status & (FAULT | MUTED | SUSPENDED)) === 0 ? 0 : BLOCKED_LOAD);
}

class ByKey implements RouteeSelector {
  private members: readonly Member[] = [];
  private ring = new HashRing([]);
  private readonly keyOf: KeyOf;

  constructor(keyOf: KeyOf) {
    this.keyOf = keyOf;
  }

  setMembers(members: readonly Member[]): void {
    this.members = members;
    this.ring = new HashRing(members.map(({ serial }) => serial));
  }

  select(message: string, payload: unknown): CellRef | undefined {
    for (const index of this.ring.order(this.keyOf(message, payload))) {
      const { ref } = this.members[index] as Member;
      if (isOpen(ref)) return ref;
    }
    return undefined;
  }
}
