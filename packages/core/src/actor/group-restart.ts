import { KILL_ASKED, STOP_ASKED, STOPPING, TERMINATED } from '../mailbox/status.js';
import type { ActorCell } from './cell.js';
import type { RefBase } from './ref-class.js';
import type { FailureReport } from './signal.js';

/** What keeps a sibling from coming back: it is on its way out by itself. */
const LEAVING = STOPPING | STOP_ASKED | KILL_ASKED | TERMINATED;

/**
 * Siblings that restart together. They come to rest one after the other, youngest first, as they would in a stop; when
 * all rest, they begin anew in order of birth. So whoever was started later never sees an earlier one half restarted.
 * One that ends meanwhile is no longer waited for.
 */
export class GroupRestart {
  private readonly resting = new Set<RefBase>();
  private readonly report: FailureReport;
  private members: RefBase[];
  private begun = false;
  /** Whose turn it is: to come to rest, or once all rest, to begin anew. */
  private awaited: RefBase | undefined = undefined;
  private beginning = false;

  /** `members` in order of birth. */
  constructor(members: readonly ActorCell[], report: FailureReport) {
    this.report = report;
    this.members = members.map((cell) => cell.ref);
    for (const cell of members) cell.needExtras().group = this;
  }

  begin(): void {
    this.begun = true;
    this.next();
  }

  /** More that a further failure concerns, in order of birth; some may be in it already. */
  join(cells: readonly ActorCell[]): void {
    const known = new Set(this.members);
    const { lineage } = this.report.child.kind.runtime;
    for (const cell of cells) {
      if (known.has(cell.ref)) continue;
      cell.needExtras().group = this;
      known.add(cell.ref);
    }
    const [first] = cells;
    const parent = first === undefined ? undefined : lineage.parentOf(first.slot);
    if (parent === undefined) return;
    const siblings = lineage.childrenOf(parent).map((cell) => cell.ref);
    this.members = siblings.filter((ref) => known.has(ref));
  }

  rests(cell: ActorCell): void {
    this.resting.add(cell.ref);
    if (this.begun) this.next();
  }

  left(ref: RefBase): void {
    if (!this.members.includes(ref)) return;
    this.members = this.members.filter((member) => member !== ref);
    this.resting.delete(ref);
    if (ref.cell.extras !== undefined) ref.cell.extras.group = undefined;
    if (this.begun) this.next();
  }

  /** It has begun anew, or never will: the next one's turn. */
  passed(cell: ActorCell): void {
    if (cell.extras !== undefined) cell.extras.group = undefined;
    // Should it fail again while the others are still to begin, it has to come to rest again.
    this.resting.delete(cell.ref);
    this.members = this.members.filter((member) => member !== cell.ref);
    this.next();
  }

  private next(): void {
    const youngest = this.members.findLast((member) => !this.resting.has(member));
    const awaited = youngest ?? this.members[0];
    // Somebody else has left: whoever is on the way already is not asked twice.
    if (awaited === this.awaited && (youngest === undefined) === this.beginning) return;
    this.awaited = awaited;
    this.beginning = youngest === undefined;
    if (youngest === undefined) {
      awaited?.cell.signal({ kind: 'incarnate' });
    } else if ((youngest.cell.status & LEAVING) !== 0) {
      this.left(youngest);
    } else {
      youngest.cell.signal({ kind: 'directive', directive: 'restart', report: this.report });
    }
  }
}
