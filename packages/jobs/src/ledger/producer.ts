import { Ring } from '../collections/ring.js';

/**
 * One client that numbers its submits. Keeps the job of every number above `low`, the mark up to which the
 * client has its receipts: a submit that is sent again finds its job. Zero stands for a number that was not
 * accepted.
 */
export class Producer {
  readonly no: number;
  readonly client: string;
  readonly token: string;
  low = 0;
  lastAt: number;
  private readonly jobs = new Ring<number>();

  constructor(no: number, client: string, token: string, at: number) {
    this.no = no;
    this.client = client;
    this.token = token;
    this.lastAt = at;
  }

  /** The (first) job of a number; 0: not accepted; -1: its receipt has arrived, so it is not sent again. */
  jobOf(seq: number): number {
    if (seq <= this.low) return -1;
    return this.jobs.at(seq - this.low - 1) ?? 0;
  }

  addSubmit(seq: number, job: number, low: number, at: number): void {
    this.lastAt = at;
    this.advance(Math.min(low, seq - 1));
    const index = seq - this.low - 1;
    if (index < this.jobs.size) {
      this.jobs.put(index, job);
      return;
    }
    while (this.jobs.size < index) this.jobs.push(0);
    this.jobs.push(job);
  }

  *entries(): Generator<readonly [seq: number, job: number]> {
    for (let i = 0; i < this.jobs.size; i += 1) {
      const job = this.jobs.at(i) as number;
      if (job !== 0) yield [this.low + 1 + i, job];
    }
  }

  advance(low: number): void {
    while (this.low < low && this.jobs.size > 0) {
      this.low += 1;
      this.jobs.shift();
    }
    this.low = Math.max(this.low, low);
  }
}
