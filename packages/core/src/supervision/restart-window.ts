/** When restarts happened, as far as the window reaches. Adding and counting cost the same however many there were. */
export class RestartWindow {
  private times: number[] = [];
  private first = 0;

  add(now: number): void {
    this.times.push(now);
  }

  /** How many restarts are younger than `withinMs`; the others are forgotten. Time must not go back. */
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
