import type { ActorCell } from '../actor/cell.js';
import type { Extras } from '../actor/cold-state.js';
import { grown, NO_SLOT } from '../run-queue/slots.js';

/**
 * Who is whose child, in order of birth: a doubly linked list per parent, in integer arrays indexed by slot. A parent
 * outlives its children, so a slot number is enough to find it.
 */
export class Lineage {
  private parents = new Int32Array(64);
  private elders = new Int32Array(64);
  private youngers = new Int32Array(64);
  private readonly cellAt: (slot: number) => ActorCell | undefined;

  constructor(cellAt: (slot: number) => ActorCell | undefined) {
    this.cellAt = cellAt;
  }

  add(parent: ActorCell, child: number): void {
    while (child >= this.parents.length) {
      this.parents = grown(this.parents);
      this.elders = grown(this.elders);
      this.youngers = grown(this.youngers);
    }
    const extras = parent.needExtras();
    this.parents[child] = parent.slot;
    this.elders[child] = extras.lastChild;
    this.youngers[child] = NO_SLOT;
    if (extras.lastChild === NO_SLOT) extras.firstChild = child;
    else this.youngers[extras.lastChild] = child;
    extras.lastChild = child;
  }

  remove(child: number): void {
    const parent = this.parentOf(child);
    if (parent === undefined) return;
    const extras = parent.extras as Extras;
    const elder = this.elders[child] as number;
    const younger = this.youngers[child] as number;
    if (elder === NO_SLOT) extras.firstChild = younger;
    else this.youngers[elder] = younger;
    if (younger === NO_SLOT) extras.lastChild = elder;
    else this.elders[younger] = elder;
    this.parents[child] = NO_SLOT;
  }

  parentOf(child: number): ActorCell | undefined {
    return this.cellAt(this.parents[child] as number);
  }

  /** The last born living child, or undefined. */
  youngestOf(parent: ActorCell): ActorCell | undefined {
    return parent.extras === undefined ? undefined : this.cellAt(parent.extras.lastChild);
  }

  /** In order of birth. */
  childrenOf(parent: ActorCell): ActorCell[] {
    const children: ActorCell[] = [];
    let slot = parent.extras?.firstChild ?? NO_SLOT;
    while (slot !== NO_SLOT) {
      children.push(this.cellAt(slot) as ActorCell);
      slot = this.youngers[slot] as number;
    }
    return children;
  }
}
