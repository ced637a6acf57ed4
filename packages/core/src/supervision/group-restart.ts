import type { ActorCell } from '../actor/actor-cell.js';
import { KILL_REQUESTED, STOP_REQUESTED, STOPPING, TERMINATED } from '../mailbox/status-word.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { ChildLists } from './child-lists.js';
import type { FailureReport } from './failure-report.js';

/** A sibling with one of these bits ends by itself and is not replaced. */
const LEAVING = STOPPING | STOP_REQUESTED | KILL_REQUESTED | TERMINATED;

/** The restart that an actor is part of, as the actor sees it. */
export interface RestartGroup {
  /** It has come to rest between two incarnations. */
  rests(cell: ActorCell): void;
  /** It ends instead. */
  left(ref: CellRef): void;
  /** It was replaced, or never will be. */
  passed(cell: ActorCell): void;
}

/**
 * Siblings that restart together. They come to rest one after the other in reverse start order, as in a stop;
 * when all rest, they are replaced in start order. So a sibling that was started later never sees an earlier
 * one half restarted. A sibling that ends meanwhile is no longer waited for.
 */
export class GroupRestart implements RestartGroup {
  private readonly report: FailureReport;
  private readonly childLists: ChildLists;
  /** In start order; members that have left or were replaced stay in the list. */
  private members: readonly CellRef[];
  /** Members that are still to be replaced. */
  private readonly open: Set<CellRef>;
  private readonly resting = new Set<CellRef>();
  /** Every member behind this index rests or has left. */
  private lastToRest: number;
  /** Every member before this index was replaced or has left. */
  private firstToReplace = 0;
  private begun = false;
  /** The member whose turn it is: to come to rest, or once all rest, to be replaced. */
  private awaited: CellRef | undefined = undefined;
  private replacing = false;

  /** `members` in start order. */
  constructor(members: readonly ActorCell[], report: FailureReport, childLists: ChildLists) {
    this.report = report;
    this.childLists = childLists;
    this.members = members.map((cell) => cell.ref);
    this.open = new Set(this.members);
    this.lastToRest = members.length - 1;
    for (const cell of members) cell.ensureCold().group = this;
  }

  begin(): void {
    this.begun = true;
    this.next();
  }

  get hasBegun(): boolean {
    return this.begun;
  }

  /**
   * Siblings of a further failure, in start order; some may be members already, or members of other groups.
   */
  join(cells: readonly ActorCell[], others: readonly GroupRestart[]): void {
    const { childLists } = this;
    for (const other of others) this.absorb(other);
    for (const cell of cells) {
      cell.ensureCold().group = this;
      this.open.add(cell.ref);
    }
    const [first] = cells;
    const parent = first === undefined ? undefined : childLists.parentOf(first.slot);
    if (parent === undefined) return;
    const siblings = childLists.childrenOf(parent).map((cell) => cell.ref);
    this.members = siblings.filter((ref) => this.open.has(ref));
    this.lastToRest = this.members.length - 1;
    this.firstToReplace = 0;
  }

  /** Members that rest there rest here; members on their way to rest report here. */
  private absorb(other: GroupRestart): void {
    for (const ref of other.open) {
      this.open.add(ref);
      ref.cell.ensureCold().group = this;
    }
    for (const ref of other.resting) this.resting.add(ref);
    other.open.clear();
    other.resting.clear();
  }

  rests(cell: ActorCell): void {
    this.resting.add(cell.ref);
    if (this.begun) this.next();
  }

  left(ref: CellRef): void {
    if (!this.open.has(ref)) return;
    this.dismiss(ref);
    if (this.begun) this.next();
  }

  /**
   * The member was replaced, or never will be: the next one's turn. After another failure it has to join
   * again.
   */
  passed(cell: ActorCell): void {
    this.dismiss(cell.ref);
    this.next();
  }

  private next(): void {
    const toRest = this.nextToRest();
    const awaited = toRest ?? this.nextToReplace();
    // Another member has left: the awaited one is on its way and is not asked twice.
    if (awaited === this.awaited && (toRest === undefined) === this.replacing) return;
    this.awaited = awaited;
    this.replacing = toRest === undefined;
    if (toRest === undefined) awaited?.cell.putSignal({ kind: 'replace' });
    else toRest.cell.putSignal({ kind: 'directive', directive: 'restart', report: this.report });
  }

  private nextToRest(): CellRef | undefined {
    for (; this.lastToRest >= 0; this.lastToRest -= 1) {
      const member = this.members[this.lastToRest] as CellRef;
      if (!this.open.has(member) || this.resting.has(member)) continue;
      const isOnItsWay = member === this.awaited && !this.replacing;
      if (isOnItsWay || (member.cell.status & LEAVING) === 0) return member;
      this.dismiss(member);
    }
    return undefined;
  }

  private nextToReplace(): CellRef | undefined {
    const { members } = this;
    while (this.firstToReplace < members.length && !this.open.has(members[this.firstToReplace] as CellRef))
      this.firstToReplace += 1;
    return members[this.firstToReplace];
  }

  private dismiss(ref: CellRef): void {
    this.open.delete(ref);
    this.resting.delete(ref);
    if (ref.cell.cold !== undefined) ref.cell.cold.group = undefined;
  }
}
