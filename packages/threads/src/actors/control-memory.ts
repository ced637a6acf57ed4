import { MONITOR_WORDS } from '@troupe/core';

/** Whether the main thread keeps the process alive. */
export const HELD = 0;
/** Then a cache line for each thread, whose first word says whether it sleeps; then the notes of each. */
const FIRST_LINE = 16;
const LINE = 16;

/** The memory that all threads of a system share. */
export class ControlMemory {
  readonly words: Int32Array;
  private readonly threads: number;

  constructor(threads: number, memory: SharedArrayBuffer) {
    this.threads = threads;
    this.words = new Int32Array(memory);
  }

  static of(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * (FIRST_LINE + threads * (LINE + MONITOR_WORDS)));
  }

  /** The word that says whether a thread sleeps. */
  sleepsAt(thread: number): number {
    return FIRST_LINE + LINE * thread;
  }

  isAsleep(thread: number): boolean {
    return Atomics.load(this.words, this.sleepsAt(thread)) === 1;
  }

  /** The notes of a thread about itself. */
  notesOf(thread: number): Int32Array {
    const first = FIRST_LINE + LINE * this.threads + MONITOR_WORDS * thread;
    return this.words.subarray(first, first + MONITOR_WORDS);
  }
}
