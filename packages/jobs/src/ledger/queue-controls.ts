import type { QueueLimits, QueueMode } from '../job/queue-control.js';
import type { QueueLimitsRecord, QueueModeRecord } from './ledger-record.js';

/** Limits and mode that operators have set for one queue, or for all. */
export interface QueueControl {
  readonly queue: string;
  readonly mode: QueueMode;
  readonly limits: QueueLimits;
  /** The time and the client of the latest change. */
  readonly changedAt: number;
  readonly by: string;
}

/** The queues with limits, or with another mode than open; most leaders have none. */
export class QueueControls {
  private readonly byQueue = new Map<string, QueueControl>();

  get size(): number {
    return this.byQueue.size;
  }

  get(queue: string): QueueControl | undefined {
    return this.byQueue.get(queue);
  }

  values(): Iterable<QueueControl> {
    return this.byQueue.values();
  }

  take(record: QueueLimitsRecord | QueueModeRecord): void {
    const { queue, at: changedAt, by = '' } = record;
    const { mode = 'open', limits = {} } = this.byQueue.get(queue) ?? {};
    this.set(
      record.type === 'queue_mode'
        ? { queue, mode: record.mode, limits, changedAt, by }
        : { queue, mode, limits: record.limits, changedAt, by },
    );
  }

  /** Also for those of a snapshot. */
  set(control: QueueControl): void {
    const isPlain = control.mode === 'open' && Object.keys(control.limits).length === 0;
    if (isPlain) this.byQueue.delete(control.queue);
    else this.byQueue.set(control.queue, control);
  }
}
