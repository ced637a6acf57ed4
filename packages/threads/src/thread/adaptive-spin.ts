/**
 * The longest look for news before a sleep: about what it costs to be woken. A time, not a count: a thread
 * that others kept from running meanwhile sleeps at once.
 */
const SPIN_MS_MAX = 0.1;
/** A shorter look than this finds nothing: the thread sleeps at once. */
const SPIN_MS_MIN = 0.004;
const LONGER = 1.25;
const SHORTER = 0.25;
/** Every so many sleeps it looks for long again: the threads may have a processor each by now. */
const LOOK_LONG_EVERY = 64;

/**
 * How long a thread looks for news of another one before it sleeps. Longer where that finds news, shorter
 * where it does not: two threads on one processor only keep each other from running.
 */
export class AdaptiveSpin {
  private ms = SPIN_MS_MAX;
  private since = 0;
  /** The first news after a sleep were not found by looking for long. */
  private isWoken = true;
  /** The long look that comes every so many sleeps. */
  private isTrial = false;
  private sleeps = 0;

  /** The thread has something to wait for. */
  begin(now: number): void {
    this.since = now;
  }

  woken(now: number): void {
    this.isWoken = true;
    this.since = now;
  }

  found(now: number): void {
    if (!this.isWoken) this.ms = Math.min(SPIN_MS_MAX, Math.max(SPIN_MS_MIN, this.ms * LONGER));
    this.isTrial = this.isTrial && this.isWoken;
    this.isWoken = false;
    this.since = now;
  }

  /** Looking finds nothing here: the thread sleeps at once. */
  get isOff(): boolean {
    return this.ms === 0;
  }

  isSpent(now: number): boolean {
    return now - this.since >= this.ms;
  }

  /** Nothing was found: the thread goes to sleep. */
  slept(): void {
    this.sleeps += 1;
    if (this.isTrial || this.ms < SPIN_MS_MIN / SHORTER) this.ms = 0;
    else this.ms *= SHORTER;
    this.isTrial = this.sleeps % LOOK_LONG_EVERY === 0;
    if (this.isTrial) this.ms = SPIN_MS_MAX;
  }
}
