/**
 * One client that numbers its submits. Keeps the job of every accepted number above `low`, the mark up to
 * which the client has its receipts: a submit that is sent again finds its job. Sparse: a number far ahead
 * costs one entry, also in a log that was written before such numbers were refused.
 */
export class Producer {
  readonly no: number;
  readonly client: string;
  readonly token: string;
  low = 0;
  lastAt: number;
  private readonly jobs = new Map<number, number>();

  constructor(no: number, client: string, token: string, at: number) {
    this.no = no;
    this.client = client;
    this.token = token;
    this.lastAt = at;
  }

  /** Numbers above the mark. */
  get size(): number {
    return this.jobs.size;
  }

  /** The (first) job of a number; 0: not accepted; -1: its receipt has arrived, so it is not sent again. */
  jobOf(seq: number): number {
    if (seq <= this.low) return -1;
    return this.jobs.get(seq) ?? 0;
  }

  addSubmit(seq: number, job: number, low: number, at: number): void {
    this.lastAt = at;
    this.advance(Math.min(low, seq - 1));
    if (seq > this.low) this.jobs.set(seq, job);
  }

  /** In the order of their numbers, so that equal producers give equal entries. */
  entries(): (readonly [seq: number, job: number])[] {
    return [...this.jobs].sort(([a], [b]) => a - b);
  }

  /** By the numbers passed or by the entries, whichever are fewer. */
  advance(low: number): void {
    const passed = low - this.low;
    if (passed <= 0) return;
    if (passed <= this.jobs.size) for (let seq = this.low + 1; seq <= low; seq += 1) this.jobs.delete(seq);
    else for (const seq of this.jobs.keys()) if (seq <= low) this.jobs.delete(seq);
    this.low = low;
  }
}
