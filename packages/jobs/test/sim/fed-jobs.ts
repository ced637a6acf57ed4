import type { AttemptContext, Client, JobHandle } from '@troupe/jobs';
import { defineJob, type HandledJob, handle } from '@troupe/jobs';
import { anything, aString } from '../plain-schema.js';
import { expected } from './history-checker.js';
import type { FeedModel, RecordModel } from './record-model.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

/** One item as its client saw it. `unknown`: the client crashed before an answer came. */
interface FedItem {
  readonly job: number;
  readonly text: string;
  readonly feeder: string;
  outcome: 'unknown' | 'accepted' | 'refused';
}

/** One call of the handler. */
interface FedRun {
  readonly job: number;
  readonly attempt: number;
  readonly taken: string[];
  /** How its loop ended. */
  end: 'open' | 'final' | 'abandoned';
}

interface FedJobsSetup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  readonly keep: { readonly doneMs?: number; readonly deadMs?: number };
  /** A fed job may be gone before its client feeds it. */
  readonly drops: () => boolean;
  readonly ran: (job: number, attempt: number, worker: string) => void;
}

const FAILURES_MAX = 2;
/** No client that lives is away for so long. */
const GRACE_MS = 1_500;
/** An item on its way to a job that dies has reached the redriven job by then, or nothing. */
const REDRIVEN_MS = 1_000;
const LARGE_ITEM = 'x'.repeat(700);

/**
 * Jobs that clients feed while leader, worker and client crash. An independent fold of the records says which
 * items are durable, and in which order: every attempt must see that order from its first item on.
 */
export class FedJobs {
  readonly job;
  /** Feeds are longer than the leader keeps them. */
  private readonly isLong: boolean;
  /** Clients that have crashed, and the client of each job. */
  private readonly crashed = new Set<string>();
  private readonly feeders = new Map<number, string>();
  private readonly setup: FedJobsSetup;
  private readonly random: () => number;
  private readonly items: FedItem[] = [];
  private readonly runs: FedRun[] = [];
  /** Calls without an answer, by client. */
  private readonly open = new Map<Promise<void>, string>();
  /** Second feeders, by the client that was to end the feed. */
  private readonly seconds = new Map<
    string,
    [JobHandle<FedJobs['job']>, SimulatedMachine, incarnation: number][]
  >();
  private texts = 0;
  /** The latest word of each client on each feed; lost: its session has ended since. */
  private readonly touches = new Map<string, { client: string; at: number; isLost: boolean }>();
  /** A client that is refused closes the feed until its next item. */
  private readonly refusedJobs = new Set<number>();
  /** Feeds that a client did not have open for their grace. */
  private readonly lapsed = new Set<string>();

  constructor(setup: FedJobsSetup) {
    this.setup = setup;
    this.random = setup.simulation.stream('feeds');
    this.isLong = this.random() < 0.3;
    this.job = defineJob('sim.fed', {
      group: 'main',
      input: aString,
      output: aString,
      chunk: anything,
      collect: false,
      feed: aString,
      leaseMs: 400,
      keep: setup.keep,
      retry: { attempts: 4, baseMs: 20, capMs: 200, crashes: 3 },
      // A feed that never ends is a job that never ends.
      limits: {
        runMs: 200_000,
        feedGraceMs: GRACE_MS,
        ...(this.isLong ? { feedBytesMax: 1_000 } : {}),
      },
    });
  }

  get isSettled(): boolean {
    return this.open.size === 0;
  }

  /** When a client submits one. Random numbers of their own: other choices of a seed stay. */
  submitTimes(withinMs: number): number[] {
    const count = this.random() < 0.5 ? 0 : 1 + Math.floor(this.random() * 4);
    return Array.from({ length: count }, () => this.random() * Math.max(0, withinMs));
  }

  handled(machine: SimulatedMachine, slots: { handlers: number; readonly slots: number }): HandledJob {
    const fed = this;
    return handle(this.job, async function* (input, context) {
      slots.handlers += 1;
      if (slots.handlers > slots.slots) fed.problem(`${slots.handlers} handlers, ${slots.slots} slots`);
      try {
        yield* fed.take(machine, context);
        return expected({ payload: input }, context.attempt);
      } finally {
        slots.handlers -= 1;
      }
    });
  }

  private async *take(
    machine: SimulatedMachine,
    { feed, jobId, attempt }: AttemptContext<unknown, string>,
  ): AsyncGenerator<string, void, void> {
    const job = Number.parseInt(jobId.split('-')[1] ?? '', 36);
    const run: FedRun = { job, attempt, taken: [], end: 'open' };
    this.runs.push(run);
    this.setup.ran(job, attempt, machine.name);
    for await (const item of feed) {
      run.taken.push(item);
      if (attempt <= FAILURES_MAX && this.random() < 0.06) throw new Error('fails at random');
      if (this.random() < 0.4) await this.sleep(machine, this.random() * 60);
      yield item.slice(0, 10);
    }
    run.end = feed.isAbandoned ? 'abandoned' : 'final';
  }

  /** The client of a job feeds it and ends the feed; another one may feed it at the same time. */
  feed(
    handle: JobHandle<FedJobs['job']>,
    job: number,
    client: SimulatedMachine,
    other: readonly [SimulatedMachine, Client] | undefined,
  ): void {
    const { name, incarnation } = client;
    const feeder = `${name}.${incarnation}`;
    this.feeders.set(job, feeder);
    this.touched(feeder, job);
    // All receipts were lost for the grace of the feed.
    if (this.model(job).end === 'abandoned') this.lapsed.add(`${feeder} ${job}`);
    const count = Math.floor(this.random() * 10) + (this.isLong ? 4 : 0);
    const isBurst = this.random() < 0.3;
    if (other !== undefined && this.random() < 0.4) this.feedToo(handle.id, job, feeder, other);
    let at = 0;
    for (let i = 0; i < count; i += 1) {
      if (!isBurst) at += this.random() * 80;
      const final = i === count - 1 && this.random() < 0.5;
      this.later(client, at, () => this.add(handle, job, feeder, name, { final }));
    }
    // Some clients leave a feed open for longer than its grace.
    const pauseMs = this.random() < 0.2 ? 1.5 * GRACE_MS + this.random() * GRACE_MS : 0;
    this.later(client, at + pauseMs, () => this.end(handle, job, client));
  }

  private feedToo(
    id: string,
    job: number,
    feeder: string,
    [machine, client]: readonly [SimulatedMachine, Client],
  ): void {
    // Without a session it knows no ids yet.
    if (client.idOf(1).startsWith('-')) return;
    const second = client.open(this.job, id);
    this.seconds.set(feeder, [...(this.seconds.get(feeder) ?? []), [second, machine, machine.incarnation]]);
    const own = `${feeder} and ${machine.name}.${machine.incarnation}`;
    for (let i = 0; i < 3; i += 1)
      this.later(machine, this.random() * 300, () => {
        this.add(second, job, own, machine.name, {});
        this.later(machine, REDRIVEN_MS, () => this.endRedriven(second, job, machine));
      });
  }

  /** Of a job that was dead meanwhile, its own client has ended the feed already. */
  private endRedriven(handle: JobHandle<FedJobs['job']>, job: number, machine: SimulatedMachine): void {
    if ((this.setup.records.jobs.get(job)?.redrives ?? 0) > 0) this.end(handle, job, machine);
  }

  /** Its calls are not answered any more; the feeds that only others have open must still end. */
  clientCrashed({ name, incarnation }: SimulatedMachine): void {
    for (const [call, client] of this.open) if (client === name) this.open.delete(call);
    const feeder = `${name}.${incarnation - 1}`;
    this.crashed.add(feeder);
    for (const [second, machine, lived] of this.seconds.get(feeder) ?? [])
      if (machine.alive && machine.incarnation === lived) this.end(second, numberOf(second), machine);
    this.seconds.delete(feeder);
  }

  /** A new session of a client: the feeds that it had open are open again when it says so. */
  sessionOpened(client: string): void {
    for (const touch of this.touches.values()) if (touch.client === client) touch.isLost = true;
  }

  /** A client has opened the feed of a job, or fed it. */
  touched(client: string, job: number): void {
    const { now } = this.setup.simulation;
    const last = this.touches.get(`${client} ${job}`);
    if (last?.isLost === true && now - last.at >= GRACE_MS) this.lapsed.add(`${client} ${job}`);
    this.touches.set(`${client} ${job}`, { client, at: now, isLost: false });
  }

  /** Whether its client may have been without the feed for its grace: crashed, cut off, refused, or redriven. */
  private isUnopened(job: number, feeder: string): boolean {
    const { records, simulation } = this.setup;
    const touch = this.touches.get(`${feeder} ${job}`);
    const isLost = touch?.isLost === true && simulation.now - touch.at >= GRACE_MS;
    const isRedriven = (records.jobs.get(job)?.redrives ?? 0) > 0;
    return (
      isLost ||
      isRedriven ||
      this.refusedJobs.has(job) ||
      this.crashed.has(feeder) ||
      this.lapsed.has(`${feeder} ${job}`)
    );
  }

  *check(): Generator<string> {
    for (const item of this.items) yield* this.checkItem(item);
    yield* this.checkOrder();
    for (const run of this.runs) yield* this.checkRun(run);
    for (const [job, { items, end }] of this.setup.records.feeds) {
      if (new Set(items).size !== items.length) yield `job ${job}: an item of its feed is recorded twice`;
      const feeder = this.feeders.get(job);
      if (end === 'abandoned' && feeder !== undefined && !this.isUnopened(job, feeder))
        yield `job ${job}: its feed is abandoned, and ${feeder} has it open`;
    }
  }

  /** An accepted item is in the log, a refused one is not. */
  private *checkItem({ job, text, outcome }: FedItem): Generator<string> {
    const isRecorded = this.model(job).items.includes(text);
    if (outcome === 'accepted' && !isRecorded)
      yield `job ${job}: item ${label(text)} was accepted, and is lost`;
    if (outcome === 'refused' && isRecorded)
      yield `job ${job}: item ${label(text)} was refused, and is recorded`;
  }

  /** Items of one client are recorded in the order of its calls. */
  private *checkOrder(): Generator<string> {
    const places = new Map<string, number>();
    for (const { job, text, feeder } of this.items) {
      const place = this.model(job).items.indexOf(text);
      const name = `${job} ${feeder}`;
      if (place >= 0 && place < (places.get(name) ?? -1))
        yield `job ${job}: item ${label(text)} stands before an earlier one of ${feeder}`;
      if (place >= 0) places.set(name, place);
    }
  }

  /** An attempt takes the items of the log from the first on, and ends with the feed. */
  private *checkRun({ job, attempt, taken, end }: FedRun): Generator<string> {
    const model = this.model(job);
    const wrong = taken.findIndex((item, at) => item !== model.items[at]);
    if (wrong >= 0)
      yield `attempt ${job}.${attempt} took ${label(taken[wrong] ?? '')} at place ${wrong} of its feed`;
    if (end === 'open') return;
    if (taken.length !== model.items.length)
      yield `attempt ${job}.${attempt} ended with ${taken.length} of ${model.items.length} items`;
    if (end !== model.end) yield `attempt ${job}.${attempt} ended by '${end}', its feed by '${model.end}'`;
  }

  private add(
    handle: JobHandle<FedJobs['job']>,
    job: number,
    feeder: string,
    client: string,
    options: { readonly final?: boolean },
  ): void {
    this.texts += 1;
    const text = `${this.texts} ${this.isLong || this.random() < 0.3 ? LARGE_ITEM : ''}`;
    const item: FedItem = { job, text, feeder, outcome: 'unknown' };
    this.items.push(item);
    this.settle(client, handle.feed(text, options), job, item);
  }

  /** Again, where the disk was full. A feed that is never ended is a job that runs on. */
  private end(handle: JobHandle<FedJobs['job']>, job: number, client: SimulatedMachine): void {
    const ending = handle.endFeed();
    this.settle(client.name, ending, job, undefined);
    ending.catch(({ retryable }: { readonly retryable?: boolean }) => {
      if (retryable === true) this.later(client, 50, () => this.end(handle, job, client));
    });
  }

  private settle(client: string, answer: Promise<unknown>, job: number, item: FedItem | undefined): void {
    const settled: Promise<void> = answer.then(
      () => {
        this.open.delete(settled);
        if (item === undefined) return;
        item.outcome = 'accepted';
        // A record is in the model when a leader has learned that it is durable.
        if (!this.model(job).items.includes(item.text))
          this.problem(`job ${job}: item ${label(item.text)} was accepted before it was durable`);
      },
      (error: unknown) => {
        this.open.delete(settled);
        // Of a job that was dropped the leader does not know what it had accepted.
        if (item !== undefined && codeOf(error) !== 'ERR_JOB_UNKNOWN') item.outcome = 'refused';
        this.refused(job, error);
      },
    );
    this.open.set(settled, client);
  }

  private refused(job: number, error: unknown): void {
    const code = codeOf(error);
    if ((error as { readonly retryable?: boolean }).retryable === true) this.refusedJobs.add(job);
    const model = this.setup.records.jobs.get(job);
    const isOver = model === undefined || (model.state !== 'queued' && model.state !== 'running');
    const isJustified =
      code === 'ERR_FEED_ENDED'
        ? isOver || this.model(job).end !== 'open' || (model?.redrives ?? 0) > 0
        : code === 'ERR_JOB_UNKNOWN'
          ? this.setup.drops() || model?.state === 'purged'
          : code === 'ERR_QUEUE_FULL' || code === 'ERR_DISK_LOW' || code === 'ERR_DISK_SLOW';
    if (!isJustified) this.problem(`a feed of job ${job} (${model?.state}) is refused: ${String(error)}`);
  }

  private model(job: number): FeedModel {
    return (
      this.setup.records.feeds.get(job) ?? { items: [], end: 'open', feeders: new Map(), isDropped: false }
    );
  }

  private later(machine: SimulatedMachine, ms: number, run: () => void): void {
    const { simulation } = this.setup;
    simulation.at(simulation.now + ms, machine, run);
  }

  private sleep(machine: SimulatedMachine, ms: number): Promise<void> {
    return new Promise((resolve) => this.later(machine, ms, resolve));
  }

  private problem(text: string): void {
    this.setup.simulation.problem(text);
  }
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code);
}

function label(text: string): string {
  return text.slice(0, 12).trim();
}

function numberOf({ id }: { readonly id: string }): number {
  return Number.parseInt(id.split('-')[1] ?? '', 36);
}
