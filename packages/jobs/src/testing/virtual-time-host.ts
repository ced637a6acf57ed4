import { nodeHost } from '@troupe/core';
import { ManualHost } from '@troupe/core/testing';

/** Clock, timers, chance and log of a test; the event loop of Node. Work goes on by itself, time does not. */
export class VirtualTimeHost extends ManualHost {
  private pending = 0;

  override soon(run: () => void): void {
    nodeHost.soon(this.counted(run));
  }

  override later(run: () => void): void {
    nodeHost.later(this.counted(run));
  }

  /** Resolves when nothing can go on without time: no callback waits, and no settled promise adds one. */
  async settled(): Promise<void> {
    for (let quietRounds = 0; quietRounds < 2; ) {
      // A macrotask runs only when all microtasks that can run have run.
      await new Promise<void>((resolve) => setImmediate(resolve));
      quietRounds = this.pending === 0 ? quietRounds + 1 : 0;
    }
  }

  /** Moves time to the next timer, but not beyond `until`; then everything it has caused is done. */
  async moveTowards(until: number): Promise<void> {
    this.moveTo(Math.min(this.nextDue() ?? until, until));
    await this.settled();
  }

  private counted(run: () => void): () => void {
    this.pending += 1;
    return () => {
      this.pending -= 1;
      run();
    };
  }
}
