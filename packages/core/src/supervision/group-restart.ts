import type { ActorCell } from '../actor/actor-cell.js';
import type { FailureReport } from '../lifecycle/runtime-signal.js';
import { KILL_ASKED, STOP_ASKED, STOPPING, TERMINATED } from '../mailbox/status-word.js';
import type { RefBase } from '../ref/ref-class.js';

/** What keeps a sibling from coming back: it is on its way out by itself. */
const LEAVING = STOPPING | STOP_ASKED | KILL_ASKED | TERMINATED;

/**
 * Siblings that restart together. They come to rest one after the other, youngest first, as they would in a stop; when
 * all rest, they begin anew in order of birth. So whoever was started later never sees an earlier one half restarted.
 * One that ends meanwhile is no longer waited for.
 */
export class GroupRestart {
  private readonly report: FailureReport;
  /** In order of birth; also those who have left or begun anew since. */
  private members: readonly RefBase[];
  /** Those who have still to begin anew. */
  private readonly open: Set<RefBase>;
  private readonly resting = new Set<RefBase>();
  /** Everyone behind this place rests or has left. */
  private youngest: number;
  /** Everyone before this place has begun anew or left. */
  private eldest = 0;
  private begun = false;
  /** Whose turn it is: to come to rest, or once all rest, to begin anew. */
  private awaited: RefBase | undefined = undefined;
  private beginning = false;

  /** `members` in order of birth. */
  constructor(members: readonly ActorCell[], report: FailureReport) {
    this.report = report;
    this.members = members.map((cell) => cell.ref);
    this.open = new Set(this.members);
    this.youngest = members.length - 1;
    for (const cell of members) cell.ensureCold().group = this;
  }

  begin(): void {
    this.begun = true;
    this.next();
  }

  get hasBegun(): boolean {
    return this.begun;
  }

  /** More that a further failure concerns, in order of birth; some may be in it already, or in other such restarts. */
  join(cells: readonly ActorCell[], others: readonly GroupRestart[]): void {
    const { childLists } = this.report.child.type.runtime;
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
    this.youngest = this.members.length - 1;
    this.eldest = 0;
  }

  /** Whoever rests there rests here, and whoever is on the way will say so here. */
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

  left(ref: RefBase): void {
    if (!this.open.has(ref)) return;
    this.dismiss(ref);
    if (this.begun) this.next();
  }

  /** It has begun anew, or never will: the next one's turn. Should it fail again meanwhile, it has to join again. */
  passed(cell: ActorCell): void {
    this.dismiss(cell.ref);
    this.next();
  }

  private next(): void {
    const youngest = this.youngestToRest();
    const awaited = youngest ?? this.eldestToBegin();
    // Somebody else has left: whoever is on the way already is not asked twice.
    if (awaited === this.awaited && (youngest === undefined) === this.beginning) return;
    this.awaited = awaited;
    this.beginning = youngest === undefined;
    if (youngest === undefined) awaited?.cell.signal({ kind: 'incarnate' });
    else youngest.cell.signal({ kind: 'directive', directive: 'restart', report: this.report });
  }

  private youngestToRest(): RefBase | undefined {
    for (; this.youngest >= 0; this.youngest -= 1) {
      const member = this.members[this.youngest] as RefBase;
      if (!this.open.has(member) || this.resting.has(member)) continue;
      const isOnItsWay = member === this.awaited && !this.beginning;
      if (isOnItsWay || (member.cell.status & LEAVING) === 0) return member;
      this.dismiss(member);
    }
    return undefined;
  }

  private eldestToBegin(): RefBase | undefined {
    while (this.eldest < this.members.length && !this.open.has(this.members[this.eldest] as RefBase))
      this.eldest += 1;
    return this.members[this.eldest];
  }

  private dismiss(ref: RefBase): void {
    this.open.delete(ref);
    this.resting.delete(ref);
    if (ref.cell.cold !== undefined) ref.cell.cold.group = undefined;
  }
}
