// Hot path: no allocation per record.
// The callbacks of one batch, in the order of the appends.

/** Called once the record is durable, or with the error that prevents it. */
export type AppendCallback = (error: Error | null, lsn: number) => void;

export class AppendCallbacks {
  private readonly callbacks: (AppendCallback | undefined)[] = [];
  private readonly lsns: number[] = [];
  private count = 0;

  add(callback: AppendCallback, lsn: number): void {
    this.callbacks[this.count] = callback;
    this.lsns[this.count] = lsn;
    this.count += 1;
  }

  /** Calls each once and forgets it. A callback that throws does not keep the others from being called. */
  invokeAll(error: Error | null, onThrow: (thrown: unknown) => void): void {
    const count = this.count;
    this.count = 0;
    for (let index = 0; index < count; index += 1) {
      const callback = this.callbacks[index] as AppendCallback; // add() filled every index below count
      this.callbacks[index] = undefined;
      try {
        callback(error, this.lsns[index] as number);
      } catch (thrown) {
        onThrow(thrown);
      }
    }
  }
}
