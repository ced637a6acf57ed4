// The shared memory between the pool and one of its threads. Hot path: no object per task.
//
//   int32   0 SENT       messages sent to the thread; the thread sleeps on this word
//           1 SLEEP      how the thread sleeps: the sender wakes it accordingly
//           2 DONE       ends of tasks written to the ring; one store publishes the entry before it
//           3 PORTED     messages that the thread has posted to its port
//          16 slots      one word per task of the thread: tag and state
//         144 ring       two words per entry: slot, kind of the result
//   float64              the value of the entry, if it is a number
//
// A thread may be terminated at any instruction. Every entry counts from the store of DONE on, every task
// from the exchange of its slot on, and no lock is held.

export const SENT = 0;
export const SLEEP = 1;
export const DONE = 2;
export const PORTED = 3;
const SLOTS_AT = 16;
export const SLOT_COUNT = 128;
const RING_AT = SLOTS_AT + SLOT_COUNT;
/** More than a thread can have at a time, so the ring is never full. A power of two. */
const RING_ENTRIES = 256;
const INT32_COUNT = RING_AT + 2 * RING_ENTRIES;

/** Values of SLEEP. */
export const AWAKE = 0;
/** In `Atomics.wait`: woken by `Atomics.notify`. */
export const BLOCKED = 1;
/** In its event loop: woken by a message. */
export const LOOPING = 2;

/** States of a slot; the rest of its word is the tag, so that an old message never meets a new task. */
const OFFERED = 1;
const CLAIMED = 2;
const WITHDRAWN = 3;
const CANCELLED = 4;
const TAG_MAX = 2 ** 28 - 1;

/** Kinds of results in the ring. */
export const RESULT_UNDEFINED = 0;
export const RESULT_NULL = 1;
export const RESULT_TRUE = 2;
export const RESULT_FALSE = 3;
export const RESULT_NUMBER = 4;
/** The result is a message of the port. */
export const RESULT_PORTED = 5;

export function threadMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(INT32_COUNT * 4 + RING_ENTRIES * 8);
}

export class ThreadWords {
  readonly words: Int32Array;
  private readonly numbers: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory, 0, INT32_COUNT);
    this.numbers = new Float64Array(memory, INT32_COUNT * 4, RING_ENTRIES);
  }

  // --- slots, of the pool ---

  offer(slot: number, tag: number): void {
    Atomics.store(this.words, SLOTS_AT + slot, (tag << 3) | OFFERED);
  }

  withdraw(slot: number, tag: number): boolean {
    const offered = (tag << 3) | OFFERED;
    return Atomics.compareExchange(this.words, SLOTS_AT + slot, offered, (tag << 3) | WITHDRAWN) === offered;
  }

  cancel(slot: number, tag: number): void {
    Atomics.store(this.words, SLOTS_AT + slot, (tag << 3) | CANCELLED);
  }

  // --- slots, of the thread ---

  /** False: the pool has taken the task back. */
  claim(slot: number, tag: number): boolean {
    const offered = (tag << 3) | OFFERED;
    return Atomics.compareExchange(this.words, SLOTS_AT + slot, offered, (tag << 3) | CLAIMED) === offered;
  }

  isCancelled(slot: number, tag: number): boolean {
    return Atomics.load(this.words, SLOTS_AT + slot) === ((tag << 3) | CANCELLED);
  }

  // --- ring ---

  publish(at: number, slot: number, kind: number, number: number): void {
    const entry = at & (RING_ENTRIES - 1);
    const place = RING_AT + 2 * entry;
    this.words[place] = slot;
    this.words[place + 1] = kind;
    if (kind === RESULT_NUMBER) this.numbers[entry] = number;
    Atomics.store(this.words, DONE, (at + 1) | 0);
  }

  slotAt(at: number): number {
    return this.words[RING_AT + 2 * (at & (RING_ENTRIES - 1))]!; // inside the ring
  }

  kindAt(at: number): number {
    return this.words[RING_AT + 2 * (at & (RING_ENTRIES - 1)) + 1]!; // inside the ring
  }

  numberAt(at: number): number {
    return this.numbers[at & (RING_ENTRIES - 1)]!; // inside the ring
  }
}

export function nextTag(tag: number): number {
  return tag === TAG_MAX ? 1 : tag + 1;
}
