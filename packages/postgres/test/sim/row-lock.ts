/** The lock of a row: statements get it in the order in which they came. */
export class RowLock {
  private isTaken = false;
  private readonly waiting: (() => void)[] = [];

  async take(): Promise<void> {
    if (this.isTaken) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.isTaken = true;
  }

  /** The next one has it at once. */
  release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.isTaken = false;
    else next();
  }
}
