/**
 * The worker's side of the credit of one warm runner, beside that of its slots (ADR 0403): the leader assigns
 * no more attempts than there are instances, so that none waits here while another worker is free.
 */
export class RunnerCredit {
  /** The total of this session. */
  granted = 0;
  private size: number;
  /** The part of it that is not used yet. */
  private out = 0;
  /** Attempts that wait for an instance or hold one, those of ended attempts among them. */
  private held = 0;
  private isClosed = false;

  constructor(size: number) {
    this.size = size;
  }

  /** A new session: earlier credit is void. */
  restart(): void {
    this.out = 0;
    this.granted = 0;
    this.grant();
  }

  resize(size: number): void {
    this.size = size;
  }

  /** An attempt has arrived. A leader that does not know this credit may assign more. */
  take(): void {
    this.out = Math.max(0, this.out - 1);
    this.held += 1;
  }

  release(): void {
    this.held -= 1;
    this.grant();
  }

  close(): void {
    this.isClosed = true;
    this.out = 0;
  }

  private grant(): void {
    const free = this.size - this.out - this.held;
    if (this.isClosed || free <= 0) return;
    this.granted += free;
    this.out += free;
  }
}
