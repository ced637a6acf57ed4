import type { JobDefinition, JobHandle } from '@troupe/jobs';

type Submitted = JobHandle<JobDefinition>;

/** Submits under way at once. */
const WAITING_MAX = 4_096;

/** Hands receipts on in the order of their submits; the first refusal ends it. */
export class OrderedReceipts {
  count = 0;
  private readonly onReceipt: (handle: Submitted) => void;
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;
  private hasFailed = false;

  constructor(onReceipt: (handle: Submitted) => void) {
    this.onReceipt = onReceipt;
  }

  /** Resolves when the next job may be submitted. Rejects once an earlier one was refused. */
  async add(submitted: Promise<Submitted>): Promise<void> {
    this.waiting += 1;
    submitted.catch(() => undefined);
    this.last = this.follow(this.last, submitted);
    this.last.catch(() => {
      this.hasFailed = true;
    });
    if (this.hasFailed || this.waiting >= WAITING_MAX) await this.last;
  }

  /** Resolves when every receipt is handed on. */
  end(): Promise<void> {
    return this.last;
  }

  private async follow(before: Promise<void>, submitted: Promise<Submitted>): Promise<void> {
    await before;
    this.onReceipt(await submitted);
    this.count += 1;
    this.waiting -= 1;
  }
}
