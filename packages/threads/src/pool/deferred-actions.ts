/**
 * Calls of user code, put off until the state of a pool is consistent. They may call the pool: what they
 * defer runs too.
 */
export class DeferredActions {
  private readonly actions: (() => void)[] = [];
  private isActing = false;

  add(act: () => void): void {
    this.actions.push(act);
  }

  run(): void {
    if (this.isActing || this.actions.length === 0) return;
    this.isActing = true;
    try {
      for (let act = this.actions.shift(); act !== undefined; act = this.actions.shift()) act();
    } finally {
      this.isActing = false;
    }
  }
}
