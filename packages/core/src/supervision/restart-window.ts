/**
 * The times of restarts within the window. The cost of adding and counting does not depend on their number.
 */
export class RestartWindow {
  private times: number[] = [];
  private first = 0;

  add(now: number): void {
    this.times.push(now);
  }

  /** Restarts within the last `withinMs`; older ones are dropped. Time must not go back. */
  count(now: number, withinMs: number): number {
    const { times } = this;
    while (this.first < times.length && now - (times[this.first] as number) >= withinMs) this.first += 1;
    if (this.first > 64 && 2 * this.first > times.length) {
      this.times = times.slice(this.first);
      this.first = 0;
    }
    return this.times.length - this.first;
  }
}
