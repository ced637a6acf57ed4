// Hot path: `add` and `commitOldest` run once per job, on rings that have grown once.
import { Ring } from '../../collections/ring.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** The uncommitted jobs of one identity. */
export interface IdentityLoad {
  jobs: number;
  bytes: number;
  keys: number;
}

/** The submit numbers of one producer, shared by all its sessions. */
export class Numbering {
  readonly producer: number;
  /** Of its identity, where there are keys. */
  load: IdentityLoad | undefined = undefined;
  /** Numbers whose record is staged and not in the ledger yet. */
  readonly uncommitted = new Set<number>();
  /** Its client has closed: the record that ends the producer is staged. */
  ended = false;
  /** The time of its last record, staged or durable: its key window begins there. */
  lastAt: number;

  constructor(producer: number, lastAt: number) {
    this.producer = producer;
    this.lastAt = lastAt;
  }
}

/** The numbering of a session that has submitted nothing. */
export const UNNUMBERED = new Numbering(0, Number.POSITIVE_INFINITY);

/**
 * Jobs whose record is staged and not yet durable, so that the ledger does not have them. Their numbers are
 * consecutive, and they are committed in that order. A worker may be assigned to one meanwhile (ADR 0407); it
 * gets the job when both records are durable.
 */
export class UncommittedJobs {
  bytes = 0;
  readonly keys = new Set<string>();
  /** Identities are those of the key file: their number is bounded. */
  private readonly loads = new Map<string, IdentityLoad>();
  private first: number;
  private readonly sizes = new Ring<number>();
  private readonly numberings = new Ring<Numbering>();
  private readonly seqs = new Ring<number>();
  private readonly workers = new Ring<WorkerSession | undefined>();
  /** Jobs that must begin by a time. */
  private readonly deadlines = new Map<number, number>();

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
    if (numbering.load !== undefined) addLoad(numbering.load, 1, bytes);
    this.workers.push(undefined);
    this.bytes += bytes;
  }

  /** The oldest job is in the ledger now. Returns the worker that was assigned to it meanwhile. */
  commitOldest(): WorkerSession | undefined {
    if (this.deadlines.size > 0) this.deadlines.delete(this.first);
    this.first += 1;
    const bytes = this.sizes.shift() as number;
    const numbering = this.numberings.shift() as Numbering;
    this.bytes -= bytes;
    // The jobs of a batch share a number and are committed together.
    numbering.uncommitted.delete(this.seqs.shift() as number);
    if (numbering.load !== undefined) addLoad(numbering.load, -1, -bytes);
    return this.workers.shift();
  }

  loadOf(identity: string): IdentityLoad {
    const known = this.loads.get(identity);
    if (known !== undefined) return known;
    const load = { jobs: 0, bytes: 0, keys: 0 };
    this.loads.set(identity, load);
    return load;
  }

  addKey(key: string, identity: string | undefined): void {
    this.keys.add(key);
    if (identity !== undefined) this.loadOf(identity).keys += 1;
  }

  commitKey(key: string, identity: string | undefined): void {
    if (this.keys.delete(key) && identity !== undefined) this.loadOf(identity).keys -= 1;
  }

  /** Items of a feed whose record is staged; negative: it is applied. */
  addFeed(bytes: number, identity: string | undefined): void {
    this.bytes += bytes;
    if (identity !== undefined) this.loadOf(identity).bytes += bytes;
  }

  contains(job: number): boolean {
    return job >= this.first && job < this.nextJob;
  }

  addDeadline(job: number, at: number): void {
    this.deadlines.set(job, at);
  }

  /** It may not begin any more, and expires once it is in the ledger. */
  isLate(job: number, now: number): boolean {
    return this.deadlines.size > 0 && (this.deadlines.get(job) ?? Number.POSITIVE_INFINITY) <= now;
  }

  bytesOf(job: number): number {
    return this.sizes.at(job - this.first) as number;
  }

  assignWorker(job: number, session: WorkerSession): void {
    this.workers.put(job - this.first, session);
  }
}

function addLoad(load: IdentityLoad, jobs: number, bytes: number): void {
  load.jobs += jobs;
  load.bytes += bytes;
}
