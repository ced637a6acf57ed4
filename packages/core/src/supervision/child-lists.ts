import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import { NO_SLOT } from '../mailbox/mailbox.js';
import { grown } from '../run-queue/slots.js';

/**
 * The children of each actor in start order: a doubly linked list per parent, in integer arrays indexed by
 * slot. A parent outlives its children, so a slot number is enough to find it.
 */
export class ChildLists {
  private parents = new Int32Array(64);
  private previousSiblings = new Int32Array(64);
  private nextSiblings = new Int32Array(64);
  private readonly cellAt: (slot: number) => ActorCell | undefined;

  constructor(cellAt: (slot: number) => ActorCell | undefined) {
    this.cellAt = cellAt;
  }

  add(parent: ActorCell, child: number): void {
    while (child >= this.parents.length) {
      this.parents = grown(this.parents);
      this.previousSiblings = grown(this.previousSiblings);
      this.nextSiblings = grown(this.nextSiblings);
    }
    const cold = parent.ensureCold();
    this.parents[child] = parent.slot;
    this.previousSiblings[child] = cold.lastChild;
    this.nextSiblings[child] = NO_SLOT;
    if (cold.lastChild === NO_SLOT) cold.firstChild = child;
    else this.nextSiblings[cold.lastChild] = child;
    cold.lastChild = child;
  }

  remove(child: number): void {
    const parent = this.parentOf(child);
    if (parent === undefined) return;
    const cold = parent.cold as ColdState;
    const previous = this.previousSiblings[child] as number;
    const next = this.nextSiblings[child] as number;
    if (previous === NO_SLOT) cold.firstChild = next;
    else this.nextSiblings[previous] = next;
    if (next === NO_SLOT) cold.lastChild = previous;
    else this.previousSiblings[next] = previous;
    this.parents[child] = NO_SLOT;
  }

  parentOf(child: number): ActorCell | undefined {
    return this.cellAt(this.parents[child] as number);
  }

  /** The living child that was started last, or undefined. */
  lastStartedOf(parent: ActorCell): ActorCell | undefined {
    return parent.cold === undefined ? undefined : this.cellAt(parent.cold.lastChild);
  }

  /** In start order. */
  childrenOf(parent: ActorCell): ActorCell[] {
    const children: ActorCell[] = [];
    let slot = parent.cold?.firstChild ?? NO_SLOT;
    while (slot !== NO_SLOT) {
      children.push(this.cellAt(slot) as ActorCell);
      slot = this.nextSiblings[slot] as number;
    }
    return children;
  }
}
