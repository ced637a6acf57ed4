// Hot path: `add` and `commitOldest` run once per job, on rings that have grown once.
import { Ring } from '../../collections/ring.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** The submit numbers of one producer, shared by all its sessions. */
export class Numbering {
  readonly producer: number;
  /** Numbers whose record is staged and not in the ledger yet. */
  readonly uncommitted = new Set<number>();
  /** Its client has closed: the record that ends the producer is staged. */
  ended = false;

  constructor(producer: number) {
    this.producer = producer;
  }
}

/** The numbering of a session that has submitted nothing. */
export const UNNUMBERED = new Numbering(0);

/**
 * Jobs whose record is staged and not yet durable, so that the ledger does not have them. Their numbers are
 * consecutive, and they are committed in that order. A worker may be assigned to one meanwhile (ADR 0407); it
 * gets the job when both records are durable.
 */
export class UncommittedJobs {
  bytes = 0;
  readonly keys = new Set<string>();
  private first: number;
  private readonly sizes = new Ring<number>();
  private readonly numberings = new Ring<Numbering>();
  private readonly seqs = new Ring<number>();
  private readonly workers = new Ring<WorkerSession | undefined>();

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

  /** Adds the next job. `seq` is the number of its submit, which the jobs of a batch share. */
  add(bytes: number, numbering: Numbering, seq: number): void {
    this.sizes.push(bytes);
    this.numberings.push(numbering);
    this.seqs.push(seq);
    numbering.uncommitted.add(seq);
    this.workers.push(undefined);
    this.bytes += bytes;
  }

  /** The oldest job is in the ledger now. Returns the worker that was assigned to it meanwhile. */
  commitOldest(): WorkerSession | undefined {
    this.first += 1;
    this.bytes -= this.sizes.shift() as number;
    // The jobs of a batch share a number and are committed together.
    this.numberings.shift()?.uncommitted.delete(this.seqs.shift() as number);
    return this.workers.shift();
  }

  contains(job: number): boolean {
    return job >= this.first && job < this.nextJob;
  }

  bytesOf(job: number): number {
    return this.sizes.at(job - this.first) as number;
  }

  assignWorker(job: number, session: WorkerSession): void {
    this.workers.put(job - this.first, session);
  }
}
