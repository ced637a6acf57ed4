// Hot path: `add` and `land` run once per job, on rings that have grown once.
import { Ring } from '../../collections/ring.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** The numbers of one producer's submits, shared by all sessions of that producer. */
export interface Numbering {
  readonly producer: number;
  /** No number above it was ever staged, so only a number up to it can be in flight. */
  high: number;
  /** Its client said goodbye: the record that ends it is staged. */
  over: boolean;
}

/** Of a session that has submitted nothing. */
export const UNNUMBERED: Numbering = { producer: 0, high: 0, over: false };

/**
 * Jobs whose record is on its way to the disk: staged, and not yet in the ledger. Their numbers are consecutive, and they land
 * in that order. A worker may be chosen for one while it flies (ADR 0058); it hears of it when both records are durable.
 */
export class UncommittedJobs {
  bytes = 0;
  readonly keys = new Set<string>();
  private first: number;
  private readonly sizes = new Ring<number>();
  private readonly producers = new Ring<number>();
  private readonly seqs = new Ring<number>();
  private readonly takers = new Ring<WorkerSession | undefined>();

  /** `first`: the number of the next job. */
  constructor(first: number) {
    this.first = first;
  }

  get jobs(): number {
    return this.sizes.size;
  }

  get nextJob(): number {
    return this.first + this.sizes.size;
  }

  /** The next job takes off. `seq` is the number its producer gave it, alone or with the others of its batch. */
  add(bytes: number, producer: number, seq: number): void {
    this.sizes.push(bytes);
    this.producers.push(producer);
    this.seqs.push(seq);
    this.takers.push(undefined);
    this.bytes += bytes;
  }

  /** The oldest is in the ledger now. Returns the worker that was chosen for it meanwhile. */
  land(): WorkerSession | undefined {
    this.first += 1;
    this.bytes -= this.sizes.shift() as number;
    this.producers.shift();
    this.seqs.shift();
    return this.takers.shift();
  }

  has(job: number): boolean {
    return job >= this.first && job < this.nextJob;
  }

  bytesOf(job: number): number {
    return this.sizes.at(job - this.first) as number;
  }

  handTo(job: number, session: WorkerSession): void {
    this.takers.put(job - this.first, session);
  }

  /** Whether this submit is on its way. Walks the flight, which happens only for a number that is sent again. */
  carries(numbers: Numbering, seq: number): boolean {
    if (seq > numbers.high) return false;
    for (let i = 0; i < this.seqs.size; i += 1) {
      if (this.seqs.at(i) === seq && this.producers.at(i) === numbers.producer) return true;
    }
    return false;
  }
}
