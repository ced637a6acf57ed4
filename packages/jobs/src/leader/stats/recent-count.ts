// Hot path: `add` runs a few times per job.

const SLOT_MS = 10_000;
/** A minute, and the slot that is being filled. */
const SLOTS = 7;

/** Events of the last minute. */
export class RecentCount {
  total = 0;
  private readonly slots = new Uint32Array(SLOTS);
  private current = 0;

  /** `now`: record time. */
  add(now: number): void {
    this.advance(Math.floor(now / SLOT_MS));
    this.total += 1;
    const at = this.current % SLOTS;
    this.slots[at] = (this.slots[at] as number) + 1;
  }

  /** Events a second, over the last whole minute. */
  perSecond(now: number): number {
    this.advance(Math.floor(now / SLOT_MS));
    let count = 0;
    for (let i = 1; i < SLOTS; i += 1) count += this.slots[(this.current - i + SLOTS) % SLOTS] as number;
    return count / (((SLOTS - 1) * SLOT_MS) / 1_000);
  }

  private advance(slot: number): void {
    if (slot === this.current) return;
    const passed = Math.min(SLOTS, slot - this.current);
    this.current = slot;
    for (let i = 0; i < passed; i += 1) this.slots[(slot - i + SLOTS) % SLOTS] = 0;
  }
}
