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

  /** One more that failed before its turn came. */
  join(cell: ActorCell): void {
    cell.needExtras().group = this;
    this.members.push(cell.ref);
  }

  rests(cell: ActorCell): void {
    this.resting.add(cell.ref);
    this.next();
  }

  left(ref: RefBase): void {
    if (!this.members.includes(ref)) return;
    this.members = this.members.filter((member) => member !== ref);
    if (ref.cell.extras !== undefined) ref.cell.extras.group = undefined;
    if (this.begun) this.next();
  }

  /** It has begun anew, or never will: the next one's turn. */
  passed(cell: ActorCell): void {
    if (cell.extras !== undefined) cell.extras.group = undefined;
    this.members = this.members.filter((member) => member !== cell.ref);
    this.next();
  }

  private next(): void {
    const youngest = this.members.findLast((member) => !this.resting.has(member));
    if (youngest === undefined) {
      this.members[0]?.cell.signal({ kind: 'incarnate' });
    } else if ((youngest.cell.status & LEAVING) !== 0) {
      this.left(youngest);
    } else {
      youngest.cell.signal({ kind: 'directive', directive: 'restart', report: this.report });
    }
  }
}
