import type { Mailbox } from '../mailbox/mailbox.js';

/** Slot 0 is never given out, so that 0 can mean "nobody" in links between slots. */
export const NO_SLOT = 0;

const SLOTS_FIRST = 64;

/**
 * Slot number ↔ mailbox. Numbers instead of objects let the ready ring and the family tree live in integer arrays,
 * which need no write barrier. A slot is given back only when no ready entry names it; its generation then moves on,
 * so that (slot, generation) never means two actors. A slot whose generation would wrap is retired.
 */
export class Slots<M extends Mailbox> {
  readonly mailboxes: (M | undefined)[] = [undefined];
  generations = new Int32Array(SLOTS_FIRST);
  /** Messages handled by whoever has the slot; written once per turn. Doubles: a busy actor handles 2³² in minutes. */
  handled = new Float64Array(SLOTS_FIRST);
  private readonly free: number[] = [];

  /** The slot that the next `put` will fill. */
  reserve(): number {
    const slot = this.free.pop() ?? this.mailboxes.length;
    if (slot === this.mailboxes.length) {
      this.mailboxes.push(undefined);
      if (slot === this.generations.length) this.grow();
    }
    this.handled[slot] = 0;
    return slot;
  }

  private grow(): void {
    this.generations = grown(this.generations);
    const handled = new Float64Array(this.generations.length);
    handled.set(this.handled);
    this.handled = handled;
  }

  put(slot: number, mailbox: M): void {
    this.mailboxes[slot] = mailbox;
  }

  release(slot: number): void {
    this.mailboxes[slot] = undefined;
    const generation = (this.generations[slot] as number) + 1;
    if (generation > 0x7fff_fffe) return;
    this.generations[slot] = generation;
    this.free.push(slot);
  }

  /** The mailbox of exactly this generation, or undefined when that actor is gone. */
  find(slot: number, generation: number): M | undefined {
    return this.generations[slot] === generation ? this.mailboxes[slot] : undefined;
  }

  generationOf(slot: number): number {
    return this.generations[slot] as number;
  }

  get live(): number {
    return this.mailboxes.length - 1 - this.free.length;
  }
}

/** A quarter more at a time: links and generations are counted into the memory of an idle actor. */
export function grown(links: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(links.length + Math.max(SLOTS_FIRST, links.length >> 2));
  larger.set(links);
  return larger;
}
