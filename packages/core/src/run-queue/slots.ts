import { type Mailbox, NO_SLOT } from '../mailbox/mailbox.js';

const SLOTS_FIRST = 64;
const GENERATION_MAX = 0x7fff_fffe;
/** Messages counted between two searches for full counts: no count can overflow meanwhile. */
const COUNTED_MAX = 2 ** 30;
const HANDLED_FULL = 2 ** 29;

/**
 * Slot number ↔ mailbox. Numbers instead of objects let the ready ring and the child lists live in integer
 * arrays, which need no write barrier. A slot is given back only when no ready entry names it; its generation
 * then moves on, so that (slot, generation) never means two actors. A slot whose generation would wrap is
 * retired.
 *
 * Data per slot is memory of every idle actor, so it is as little as possible: generations begin with the
 * first slot that is given back, and counts of messages are small integers that spill over when they are
 * full.
 */
export class Slots<M extends Mailbox> {
  readonly mailboxes: (M | undefined)[] = [undefined];
  private generations = new Int32Array(0);
  private handled = new Int32Array(SLOTS_FIRST);
  private readonly spilled = new Map<number, number>();
  private countedSince = 0;
  private handledByGone = 0;
  private readonly free: number[] = [];

  /** The slot that the next `put` will fill. */
  reserve(): number {
    const slot = this.free.pop() ?? this.mailboxes.length;
    if (slot === this.mailboxes.length) {
      this.mailboxes.push(undefined);
      if (slot === this.handled.length) this.handled = grown(this.handled);
    }
    return slot;
  }

  put(slot: number, mailbox: M): void {
    this.mailboxes[slot] = mailbox;
  }

  release(slot: number): void {
    this.mailboxes[slot] = undefined;
    this.handledByGone += this.handledBy(slot);
    this.handled[slot] = 0;
    if (this.spilled.size > 0) this.spilled.delete(slot);
    if (slot >= this.generations.length) this.generations = grownTo(this.generations, this.handled.length);
    const generation = (this.generations[slot] as number) + 1;
    this.generations[slot] = generation;
    if (generation <= GENERATION_MAX) this.free.push(slot);
  }

  /** The mailbox of exactly this generation, or undefined when that actor has terminated. */
  find(slot: number, generation: number): M | undefined {
    return this.generationOf(slot) === generation ? this.mailboxes[slot] : undefined;
  }

  generationOf(slot: number): number {
    return this.generations[slot] ?? 0;
  }

  /** Adds to the handled messages of the actor in the slot. */
  count(slot: number, messages: number): void {
    this.handled[slot] = (this.handled[slot] as number) + messages;
    this.counted(messages);
  }

  /**
   * One more for each of these entries of the ready ring. Two actors often alternate, and adding to the same
   * two elements again and again would wait for the store before: two counts are added up here first.
   */
  countEntries(entries: Int32Array, from: number, until: number): void {
    const { handled } = this;
    let earlier = NO_SLOT;
    let earlierTimes = 0;
    let later = NO_SLOT;
    let laterTimes = 0;
    for (let at = from << 2; at < until << 2; at += 4) {
      const slot = entries[at] as number;
      if (slot === earlier) {
        earlierTimes += 1;
      } else if (slot === later) {
        laterTimes += 1;
      } else {
        handled[earlier] = (handled[earlier] as number) + earlierTimes;
        earlier = later;
        earlierTimes = laterTimes;
        later = slot;
        laterTimes = 1;
      }
    }
    handled[earlier] = (handled[earlier] as number) + earlierTimes;
    handled[later] = (handled[later] as number) + laterTimes;
    this.counted(until - from);
  }

  handledBy(slot: number): number {
    const counted = this.handled[slot] ?? 0;
    return this.spilled.size === 0 ? counted : counted + (this.spilled.get(slot) ?? 0);
  }

  /** Messages counted for all actors, terminated ones included. */
  get handledTotal(): number {
    let total = this.handledByGone;
    for (let slot = 0; slot < this.mailboxes.length; slot += 1) total += this.handledBy(slot);
    return total;
  }

  get live(): number {
    return this.mailboxes.length - 1 - this.free.length;
  }

  private counted(messages: number): void {
    this.countedSince += messages;
    if (this.countedSince > COUNTED_MAX) this.spill();
  }

  private spill(): void {
    this.countedSince = 0;
    this.handled.forEach((handled, slot) => {
      if (handled < HANDLED_FULL) return;
      this.spilled.set(slot, handled + (this.spilled.get(slot) ?? 0));
      this.handled[slot] = 0;
    });
  }
}

/** A quarter more at a time. */
export function grown(links: Int32Array): Int32Array<ArrayBuffer> {
  return grownTo(links, links.length + Math.max(SLOTS_FIRST, links.length >> 2));
}

function grownTo(links: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(links);
  return larger;
}
