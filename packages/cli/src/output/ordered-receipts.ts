import type { JobDefinition, JobHandle } from '@troupe/jobs';

type Submitted = JobHandle<JobDefinition>;

/** Submits under way at once. */
const WAITING_MAX = 4_096;

/** Tells receipts as they come, in the order of their submits; the first refusal ends it. */
export class ReceiptLine {
  told = 0;
  private readonly tell: (handle: Submitted) => void;
  private last: Promise<void> = Promise.resolve();
  private waiting = 0;
  private hasFailed = false;

  constructor(tell: (handle: Submitted) => void) {
    this.tell = tell;
  }

  /** Resolves when the next may be submitted. Rejects once one before it was refused. */
  async add(submitted: Promise<Submitted>): Promise<void> {
    this.waiting += 1;
    submitted.catch(() => undefined);
    this.last = this.follow(this.last, submitted);
    this.last.catch(() => {
      this.hasFailed = true;
    });
    if (this.hasFailed || this.waiting >= WAITING_MAX) await this.last;
  }

  /** Resolves when all are told. */
  end(): Promise<void> {
    return this.last;
  }

  private async follow(before: Promise<void>, submitted: Promise<Submitted>): Promise<void> {
    await before;
    this.tell(await submitted);
    this.told += 1;
    this.waiting -= 1;
  }
}
