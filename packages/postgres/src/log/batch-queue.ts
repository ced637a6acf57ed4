import type { DurableReceiver } from '@troupe/jobs/journal';
import type { TakenRows } from '../outbox/taken-rows.js';
import { LENGTH_BYTES } from './batch-codec.js';

/** Larger values cost the server more than a second statement does. */
const BATCH_BYTES = 256 * 1024;

export interface WaitingWrite {
  readonly entries: readonly Uint8Array[];
  readonly to: DurableReceiver;
}

/** The writes that travel in one statement. */
export interface WriteBatch {
  readonly writes: readonly WaitingWrite[];
  readonly entries: readonly Uint8Array[];
  readonly firstLsn: number;
  /** Rows of the outbox that become jobs by it. */
  readonly rows: readonly number[];
}

/**
 * Group commit: writes that come while a batch is at the server share the next one. One batch at a time, so
 * that an unknown outcome concerns one batch only.
 */
export class BatchQueue {
  private readonly waiting: WaitingWrite[] = [];
  private atServer: WriteBatch | undefined = undefined;
  /** The last position that is durable. */
  lsn: number;

  private readonly rows: TakenRows;

  constructor(lsn: number, rows: TakenRows) {
    this.lsn = lsn;
    this.rows = rows;
  }

  get isIdle(): boolean {
    return this.waiting.length === 0 && this.atServer === undefined;
  }

  get sent(): WriteBatch | undefined {
    return this.atServer;
  }

  add(write: WaitingWrite): void {
    this.waiting.push(write);
  }

  /** The next batch, if the server has none. */
  next(): WriteBatch | undefined {
    if (this.atServer !== undefined || this.waiting.length === 0) return undefined;
    let bytes = 0;
    let count = 0;
    for (const { entries } of this.waiting) {
      for (const entry of entries) bytes += LENGTH_BYTES + entry.length;
      if (count > 0 && bytes > BATCH_BYTES) break;
      count += 1;
    }
    const writes = this.waiting.splice(0, count);
    const entries = writes.flatMap((write) => write.entries);
    this.atServer = { writes, entries, firstLsn: this.lsn + 1, rows: this.rows.in(entries) };
    return this.atServer;
  }

  /** The batch at the server is durable: its receivers learn their positions. */
  committed(): void {
    const batch = this.atServer;
    if (batch === undefined) return;
    this.atServer = undefined;
    this.lsn = batch.firstLsn + batch.entries.length - 1;
    let firstLsn = batch.firstLsn;
    for (const { entries, to } of batch.writes) {
      to.tell.durable({ error: null, firstLsn });
      firstLsn += entries.length;
    }
  }

  /** Nothing of it will be written: every receiver learns the error. */
  failed(error: Error): void {
    const writes = [...(this.atServer?.writes ?? []), ...this.waiting.splice(0)];
    this.atServer = undefined;
    for (const { to } of writes) to.tell.durable({ error, firstLsn: 0 });
  }
}
