import { type Client, defineJob, type HandledJob, handle, type JobHandle } from '@troupe/jobs';
import { aString } from '../plain-schema.js';
import { ReaderCheck, type ReaderRules } from '../streams/reader-check.js';
import { expected } from './history-checker.js';
import type { RecordModel } from './record-model.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

type Jobs = ReturnType<typeof jobsOf>;
type Kind = keyof Jobs;
type StreamHandle = JobHandle<Jobs[Kind]>;

const KIB = 1_024;
const PADDING = 'x'.repeat(64 * KIB);
const KINDS: readonly Kind[] = ['spilled', 'waiting', 'internal', 'durable'];

function jobsOf(keep: { readonly doneMs?: number; readonly deadMs?: number }) {
  const base = {
    group: 'main',
    input: aString,
    output: aString,
    chunk: aString,
    collect: false as const,
    leaseMs: 400,
    keep,
    retry: { attempts: 4, baseMs: 20, capMs: 200, crashes: 3 },
    limits: { runMs: 60_000 },
  };
  const bufferBytes = 128 * KIB;
  return {
    spilled: defineJob('sim.spilled', { ...base, stream: { bufferBytes } }),
    waiting: defineJob('sim.waiting', { ...base, stream: { bufferBytes, whenUnread: 'wait' } }),
    internal: defineJob('sim.internal', { ...base, stream: { bufferBytes, spillBytes: 256 * KIB } }),
    durable: defineJob('sim.durable', { ...base, stream: { bufferBytes, durable: true } }),
  };
}

/** A stream as the leader holds it. */
export interface HeldStream {
  readonly job: number;
  readonly bytes: number;
  readonly policy: { readonly bufferBytes: number };
}

const LOOK_MS = 500;

/** Chunks on their way to a file are still in memory, and the last chunk may be a large one. */
const BUFFERS_MAX = 2.5;

interface StreamReadingsSetup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  readonly keep: { readonly doneMs?: number; readonly deadMs?: number };
  /** A job may be gone before its reader comes. */
  readonly drops: () => boolean;
  /** A leader has ended and another goes on. */
  readonly hasRestarted: () => boolean;
  /** Calls of the disk have failed, or its bytes are damaged. */
  readonly hasDiskFaults: () => boolean;
  readonly ran: (job: number, attempt: number, worker: string) => void;
  /** More of these jobs than of others. */
  readonly isMain: boolean;
}

/** One reader, from its start to its end or to the end of its client. */
interface Reading {
  readonly check: ReaderCheck;
  readonly job: number;
  readonly client: string;
  isOpen: boolean;
}

/**
 * Jobs whose chunks clients read while leader, worker, client and network fail. Each chunk names its job, its
 * attempt and its number, and every reader is checked by rules that know nothing of the leader.
 */
export class StreamReadings {
  private readonly jobs: Jobs;
  private readonly setup: StreamReadingsSetup;
  private readonly random: () => number;
  private readonly readings: Reading[] = [];
  /** Chunks that the generator of an attempt has yielded. */
  private readonly yielded = new Map<string, number>();
  /** The furthest chunk that a reader of an attempt has taken is below this number. */
  private readonly consumed = new Map<string, number>();

  constructor(setup: StreamReadingsSetup) {
    this.setup = setup;
    this.random = setup.simulation.stream('streams');
    this.jobs = jobsOf(setup.keep);
  }

  /** When a client submits one. Random numbers of their own: other choices of a seed stay. */
  submitTimes(withinMs: number): number[] {
    const isNone = this.random() < 0.5 && !this.setup.isMain;
    const count = isNone ? 0 : 1 + Math.floor(this.random() * (this.setup.isMain ? 8 : 4));
    return Array.from({ length: count }, () => this.random() * Math.max(0, withinMs));
  }

  /** A kind of job, and how it is submitted. */
  draw(): { readonly job: Jobs[Kind]; readonly streaming: 'response' | 'internal' } {
    const kind = KINDS[Math.floor(this.random() * KINDS.length)] ?? 'spilled';
    return { job: this.jobs[kind], streaming: modeOf(kind) };
  }

  get isSettled(): boolean {
    return this.readings.every(({ isOpen }) => !isOpen);
  }

  handled(machine: SimulatedMachine, slots: { handlers: number; readonly slots: number }): HandledJob[] {
    return Object.values(this.jobs).map((job) => {
      const { setup } = this;
      const yieldChunks = (no: number, attempt: number): AsyncGenerator<string, void, void> =>
        this.chunks(machine, no, attempt);
      return handle(job, async function* (input, { jobId, attempt }) {
        slots.handlers += 1;
        if (slots.handlers > slots.slots)
          setup.simulation.problem(`${slots.handlers} handlers, ${slots.slots} slots`);
        const no = Number.parseInt(jobId.split('-')[1] ?? '', 36);
        setup.ran(no, attempt, machine.name);
        try {
          yield* yieldChunks(no, attempt);
          return expected({ payload: input }, attempt);
        } finally {
          slots.handlers -= 1;
        }
      });
    });
  }

  private async *chunks(
    machine: SimulatedMachine,
    job: number,
    attempt: number,
  ): AsyncGenerator<string, void, void> {
    const count = Math.floor(this.random() * 60);
    const isFast = this.random() < 0.5;
    for (let offset = 0; offset < count; offset += 1) {
      if (attempt < 3 && this.random() < 0.01) throw new Error('fails at random');
      if (!isFast || this.random() < 0.1) await this.sleep(machine, this.random() * 20);
      this.yielded.set(`${job}.${attempt}`, offset + 1);
      yield chunkOf(job, attempt, offset);
    }
  }

  /** Readers of its client and of another one: early, late, slow, and some that stop and go on. */
  read(
    handle: StreamHandle,
    { no, policy, streaming }: { no: number; policy: Jobs[Kind]; streaming: 'response' | 'internal' },
    clients: readonly (readonly [SimulatedMachine, Client])[],
  ): void {
    // A response without any reader may wait for one for ever.
    const count = 1 + Math.floor(this.random() * 3);
    for (let i = 0; i < count; i += 1) {
      const [machine, client] = clients[i % clients.length] ?? [];
      if (machine === undefined || client === undefined) continue;
      const afterMs = this.random() < 0.5 ? 0 : this.random() * 1_500;
      this.later(machine, afterMs, () => {
        // A client that had no session yet knows no ids.
        if (i > 0 && client.idOf(no) !== handle.id) return;
        const own = i === 0 ? handle : client.open(policy, handle.id);
        this.start(own, no, policy, streaming, machine);
      });
    }
  }

  /**
   * After the faults, and again and again, because a dead letter may be redriven later: a stream whose readers are
   * gone has one again, since it may wait for one.
   */
  heal([machine, client]: readonly [SimulatedMachine, Client]): void {
    // Without a session it knows no ids yet.
    if (client.idOf(1).startsWith('-'))
      return this.later(machine, LOOK_MS, () => this.heal([machine, client]));
    for (const { no, policy, state } of this.setup.records.jobs.values()) {
      const kind = KINDS.find((one) => this.jobs[one].exec === policy.exec);
      const isRead = this.readings.some(({ job, isOpen }) => job === no && isOpen);
      if (kind === undefined || isRead || (state !== 'queued' && state !== 'running')) continue;
      const job = this.jobs[kind];
      this.start(client.open(job, client.idOf(no)), no, job, modeOf(kind), machine);
    }
    this.later(machine, LOOK_MS, () => this.heal([machine, client]));
  }

  /** Its readers end with it. */
  clientCrashed({ name }: SimulatedMachine): void {
    for (const reading of this.readings) if (reading.client === name) reading.isOpen = false;
  }

  /** No stream is far above its buffer, whatever its worker and its readers do. */
  checkMemory(streams: Iterable<HeldStream>): void {
    for (const { job, bytes, policy } of streams)
      if (bytes > BUFFERS_MAX * policy.bufferBytes)
        this.setup.simulation.problem(
          `the leader holds ${bytes} bytes of job ${job}, whose buffer has ${policy.bufferBytes}`,
        );
  }

  *check(): Generator<string> {
    for (const { check, job } of this.readings) {
      yield* check.problems;
      if (check.end !== undefined) yield* this.checkEnd(check, job);
    }
  }

  /** The stream of a job that is done has as many chunks as its generator has yielded. */
  private *checkEnd(check: ReaderCheck, job: number): Generator<string> {
    const model = this.setup.records.jobs.get(job);
    if (model === undefined || model.redrives > 0) return;
    const state = model.state === 'purged' ? 'dead' : model.state;
    if (check.end !== state) yield `job ${job} is ${state}, its reader got ${check.end}`;
    const { attempt, offset } = check.position;
    const yielded = this.yielded.get(`${job}.${model.attempt}`) ?? 0;
    if (state !== 'done' || check.hasUnknownGap) return;
    if (attempt !== 0 && attempt !== model.attempt)
      yield `job ${job}: a reader ended in attempt ${attempt}, the job in ${model.attempt}`;
    else if (offset !== yielded)
      yield `job ${job}: a reader ended behind chunk ${offset} of ${yielded} in attempt ${model.attempt}`;
  }

  private start(
    handle: StreamHandle,
    no: number,
    policy: Jobs[Kind],
    streaming: 'response' | 'internal',
    machine: SimulatedMachine,
    from = { attempt: 0, offset: 0 },
  ): void {
    const rules: ReaderRules = {
      streaming,
      chunkOf: (attempt, offset) => chunkOf(no, attempt, offset),
      excuse: (attempt, to) => this.excuse(policy, streaming, `${no}.${attempt}`, to),
    };
    const name = `reader ${this.readings.length + 1} of job ${no} (${policy.exec}) on ${machine.name}`;
    const check = new ReaderCheck(name, rules, from);
    const reading: Reading = { check, job: no, client: machine.name, isOpen: true };
    this.readings.push(reading);
    const goOn = (): void => {
      if (check.end === undefined) this.start(handle, no, policy, streaming, machine, check.position);
    };
    void this.follow(handle, reading, machine).then(
      (hasStopped) => {
        reading.isOpen = false;
        if (hasStopped) this.later(machine, this.random() * 200, goOn);
      },
      (error: unknown) => {
        reading.isOpen = false;
        this.failed(no, error);
      },
    );
  }

  /** True: it stopped before the end. */
  private async follow(
    handle: StreamHandle,
    { check, job }: Reading,
    machine: SimulatedMachine,
  ): Promise<boolean> {
    const isSlow = this.random() < 0.3;
    const stopsAt = this.random() < 0.2 ? 1 + Math.floor(this.random() * 20) : Number.POSITIVE_INFINITY;
    let items = 0;
    for await (const item of handle.items({ from: check.position })) {
      check.take(item);
      if (item.kind === 'data') this.taken(check, job);
      items += 1;
      if (items >= stopsAt && item.kind !== 'end') return true;
      if (isSlow) await this.sleep(machine, this.random() * 30);
    }
    if (check.end === undefined) this.setup.simulation.problem(`a stream of ${handle.id} has no end`);
    return false;
  }

  private failed(no: number, error: unknown): void {
    const { code } = error as { readonly code?: string };
    const { records, drops, simulation } = this.setup;
    const isGone = code === 'ERR_JOB_UNKNOWN' && (drops() || records.jobs.get(no)?.state === 'purged');
    if (!isGone) simulation.problem(`a reader of job ${no}: ${String(error)}`);
  }

  private taken({ position: { attempt, offset } }: ReaderCheck, job: number): void {
    const name = `${job}.${attempt}`;
    this.consumed.set(name, Math.max(this.consumed.get(name) ?? 0, offset));
  }

  private excuse(
    { exec }: Jobs[Kind],
    streaming: 'response' | 'internal',
    attempt: string,
    to: number | undefined,
  ): string | undefined {
    const { hasDiskFaults, hasRestarted, drops } = this.setup;
    if (hasDiskFaults()) return 'the disk has failed';
    if (drops()) return 'its result is gone, and its chunks with it';
    if (exec === 'sim.durable') return undefined;
    if (to !== undefined && to <= (this.consumed.get(attempt) ?? 0)) return 'another reader has taken them';
    if (streaming === 'internal') return 'its oldest chunks are dropped';
    return hasRestarted() ? 'a leader has lost its memory' : undefined;
  }

  private later(machine: SimulatedMachine, ms: number, run: () => void): void {
    const { simulation } = this.setup;
    simulation.at(simulation.now + ms, machine, run);
  }

  private sleep(machine: SimulatedMachine, ms: number): Promise<void> {
    return new Promise((resolve) => this.later(machine, ms, resolve));
  }
}

function modeOf(kind: Kind): 'response' | 'internal' {
  return kind === 'internal' ? 'internal' : 'response';
}

/** Some are large, so that few of them fill a buffer. */
function chunkOf(job: number, attempt: number, offset: number): string {
  const bytes = (job * 7 + attempt * 5 + offset) % 3 === 0 ? 30 * KIB : 2 * KIB;
  return `${job}/${attempt}/${offset} ${PADDING.slice(0, bytes)}`;
}
