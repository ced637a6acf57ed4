import type { DatabaseOptions } from '../log/log-database.js';
import { startSnapshotThread } from './node-snapshot-thread.js';

/** Makes snapshots on a thread: folding a large log would hold the event loop. One at a time. */
export class SnapshotMaker {
  private readonly database: DatabaseOptions;
  private running: Promise<number> | undefined = undefined;
  private terminate: () => Promise<unknown> = () => Promise.resolve();

  constructor(database: DatabaseOptions) {
    this.database = database;
  }

  /** Resolves with its position. A call while one is being made waits for that one. */
  make(epoch: number): Promise<number> {
    if (this.running !== undefined) return this.running;
    const { made, terminate } = startSnapshotThread({ ...this.database, epoch });
    this.terminate = terminate;
    this.running = made.finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** One that is being made is given up. */
  async close(): Promise<void> {
    await this.terminate();
  }
}
