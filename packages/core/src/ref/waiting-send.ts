import type { ActorCell } from '../actor/actor-cell.js';
import type { OpenWait } from '../mailbox/open-waits.js';
import type { CellRef } from './cell-ref.js';

/** One send that waits for room. */
export class WaitingSend implements OpenWait {
  next: WaitingSend | undefined = undefined;
  earlierWait: OpenWait | undefined = undefined;
  hasLeft = false;
  /** Why it cannot wait any longer. */
  failure: Error | undefined = undefined;
  wake: () => void = () => undefined;
  readonly since: number;
  private readonly ref: CellRef;

  constructor(ref: CellRef, since: number) {
    this.ref = ref;
    this.since = since;
  }

  get isOpen(): boolean {
    return !this.hasLeft && this.failure === undefined;
  }

  get isForRoom(): boolean {
    return true;
  }

  get awaited(): ActorCell {
    return this.ref.cell;
  }

  fail(error: Error): void {
    this.failure = error;
    this.wake();
  }
}
