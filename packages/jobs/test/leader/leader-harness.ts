import type { Delivered } from '@troupe/core';
import type { Journal, OpenJournal } from '@troupe/jobs';
import { type MemoryFiles, type MemoryLog, memoryJournal, memorySpill } from '@troupe/jobs/testing';
import type { SubmitQuota } from '@troupe/transport';
import type { LogCondition } from '@troupe/wal';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { JobPolicy } from '#src/job/definition/job-policy.js';
import type { JobsClock } from '#src/jobs-host.js';
import type { JournalOwner } from '#src/journal/journal.js';
import type { Leader } from '#src/leader/leader.js';
import type { LeaderEffects } from '#src/leader/leader-effects.js';
import { openLeader } from '#src/leader/open-leader.js';
import type { LeaderLimits, LeaderTimes } from '#src/leader/options/leader-limits.js';
import type { ClientSession } from '#src/leader/sessions/client-session.js';
import type { WorkerSession } from '#src/leader/sessions/worker-session.js';
import { decodeRecords, encodeRecord } from '#src/ledger/codec/ledger-record-codec.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import type { AdminAnswer, AdminRequest } from '#src/protocol/client/admin-messages.js';
import type {
  ClientMessage,
  JobOutcome,
  Receipt,
  SubmitItem,
  ToClient,
} from '#src/protocol/client/client-messages.js';
import { JOB_FEATURES } from '#src/protocol/job-protocol.js';
import type { PeerAccess } from '#src/protocol/leader-interface.js';
import type { HeldStream } from '#src/protocol/stream-messages.js';
import type {
  Assignment,
  AttemptEnd,
  AttemptRange,
  AttemptRef,
  ToWorker,
} from '#src/protocol/worker/worker-messages.js';
import type { OpenSpill, Spill, SpillLoaded, SpillWritten } from '#src/spill/spill.js';
import { policyOf } from '../ledger/random-records.js';

/** The journal in memory is no actor, so it needs no parent. */
const NO_OWNER = {} as JournalOwner;
const LOG_CONDITION: LogCondition = { disk: 'ok', sealedBytes: 5, cutBytes: 7, failedSnapshots: 2 };

interface LeaderHarnessOptions {
  readonly limits?: Partial<LeaderLimits> | undefined;
  readonly times?: Partial<LeaderTimes> | undefined;
  readonly labels?: readonly string[] | undefined;
  /** False: it has a journal alone. */
  readonly hasSpill?: boolean | undefined;
  /** Its spill cannot be opened. */
  readonly spillError?: Error | undefined;
}

/** A leader alone, on manual time and with a journal in memory. The test acts as its workers and clients. */
export class LeaderHarness {
  now = 0;
  /** How far the wall clock was set forward, or back. */
  wallStepMs = 0;
  readonly log: MemoryLog;
  /** The files of streams. */
  readonly spill: MemoryFiles;
  leader!: Leader;
  failJournal = false;
  /** No other process has opened the journal. */
  isOwner = true;
  /** While it is an array, writes wait in it until {@link completeWrite}. */
  heldWrites: (() => void)[] | undefined;
  appends = 0;
  readonly fatal: Error[] = [];
  /** After `stop`, everything is durable and answered. */
  finished = false;
  private due: (() => void)[] = [];
  private timers: { key: string; at: number; run: () => void }[] = [];
  private readonly options: LeaderHarnessOptions;

  constructor(
    options: LeaderHarnessOptions & { log?: MemoryLog; spill?: MemoryFiles } = {},
    clock = { now: 0, wallStepMs: 0 },
  ) {
    this.options = options;
    this.now = clock.now;
    this.wallStepMs = clock.wallStepMs;
    this.log = options.log ?? { entries: [] };
    this.spill = options.spill ?? { files: new Map() };
    const put = (run: () => void): void => void this.due.push(run);
    const time: JobsClock = {
      now: () => this.now,
      // As that of the system, it has whole milliseconds.
      wallNow: () => Math.floor(1_000_000_000 + this.now + this.wallStepMs),
      random: () => 0.5,
    };
    const { limits, times, labels } = options;
    const effects = (journal: Journal, spill: Spill | undefined): LeaderEffects =>
      this.effects(journal, spill, put);
    const onSpillFailed = (error: Error): void => void this.fatal.push(error);
    const { spillError, hasSpill = true } = options;
    const failingSpill: OpenSpill = (_named, _found, done) => put(() => done(spillError ?? null));
    const usualSpill = spillError === undefined ? memorySpill(this.spill, put) : failingSpill;
    const openSpill = hasSpill ? usualSpill : undefined;
    openLeader(
      {
        clock: time,
        later: put,
        effects,
        openJournal: this.journal(put),
        openSpill,
        onSpillFailed,
        owner: NO_OWNER,
        limits,
        times,
        labels,
      },
      (error, leader) => {
        if (leader === undefined) throw error ?? new Error('no leader');
        this.leader = leader;
      },
    );
    this.settle();
  }

  private effects(journal: Journal, spill: Spill | undefined, put: (run: () => void) => void): LeaderEffects {
    const to = {
      tell: {
        spillWritten: (written: SpillWritten) => this.leader.spillWritten(written),
        spillLoaded: (loaded: SpillLoaded) => this.leader.spillLoaded(loaded),
      },
    };
    const start = (key: string, ms: number, run: () => void): void => {
      this.timers = this.timers.filter((one) => one.key !== key);
      this.timers.push({ key, at: this.now + ms, run });
    };
    return {
      requestTurn: () => put(() => this.leader.turn()),
      startTick: (ms) => start('tick', ms, () => this.leader.tick()),
      startDueTimer: (ms) => start('due', ms, () => this.leader.due()),
      startScheduleTimer: (ms) => start('schedule', ms, () => this.leader.scheduleDue()),
      append: (entries, stored) =>
        journal.append(entries, stored, {
          tell: { durable: ({ error, firstLsn }) => this.leader.appended(error, firstLsn) },
        }),
      writeSpill: (write) => spill?.write({ ...write, to }),
      readSpill: (read) => spill?.read({ ...read, to }),
      removeSpill: (files) => spill?.remove(files),
      readInput: () => {
        throw new Error('there is no stored input');
      },
      viewActors: () => {
        throw new Error('there are no actors around this leader');
      },
      finished: () => {
        this.finished = true;
      },
      failed: (error) => void this.fatal.push(error),
    };
  }

  /** A journal in memory whose writes can be made to fail. */
  private journal(put: (run: () => void) => void): OpenJournal {
    return (reader, done, owner) => {
      const opened = (error: Error | null, journal?: Journal): void => {
        if (journal === undefined) return done(error);
        const append: Journal['append'] = (entries, stored, to) => {
          this.appends += 1;
          if (this.failJournal) put(() => to.tell.durable({ error: new Error('EIO'), firstLsn: 0 }));
          else if (this.heldWrites === undefined) journal.append(entries, stored, to);
          // The caller's buffer is in use until the callback, so the bytes may be read then.
          else this.heldWrites.push(() => journal.append(entries, stored, to));
        };
        done(null, {
          ...journal,
          append,
          condition: LOG_CONDITION,
          isOwner: () => this.isOwner,
        });
      };
      memoryJournal(this.log, put)(reader, opened, owner);
    };
  }

  disk(disk: LogCondition['disk'], reason?: string): void {
    this.leader.logChanged({ ...LOG_CONDITION, disk, reason });
  }

  /** The oldest held write becomes durable. */
  completeWrite(): void {
    this.heldWrites?.shift()?.();
    this.settle();
  }

  /** The durable records, in order. */
  records(): LedgerRecord[] {
    const records: LedgerRecord[] = [];
    for (const entry of this.log.entries) decodeRecords(entry, (record) => void records.push(record));
    return records;
  }

  /** The entries of a log, one record each. */
  static entriesOf(records: readonly LedgerRecord[]): Uint8Array[] {
    return records.map((record) => {
      const out = new ByteWriter(256);
      encodeRecord(record, out);
      return out.take();
    });
  }

  /** The process ends at once; a new leader reads its log. */
  restarted(options: LeaderHarnessOptions = {}): LeaderHarness {
    const { now, wallStepMs } = this;
    return new LeaderHarness(
      {
        ...this.options,
        ...options,
        log: { entries: [...this.log.entries] },
        spill: { files: new Map(this.spill.files) },
      },
      { now, wallStepMs },
    );
  }

  settle(): void {
    while (this.due.length > 0) {
      const due = this.due;
      this.due = [];
      for (const run of due) run();
    }
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.timers.filter((one) => one.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.now = Math.max(this.now, next.at);
      next.run();
      this.settle();
    }
    this.now = until;
    this.settle();
  }

  /** Time passes while these workers send heartbeats. */
  advanceWithHeartbeats(ms: number, ...workers: readonly FakeWorker[]): void {
    for (let passed = 0; passed < ms; passed += 100) {
      this.advance(100);
      for (const worker of workers) worker.report([]);
    }
  }

  client(name = 'ann', token = 't1', access?: PeerAccess): FakeClient {
    return new FakeClient(this, name, token, policyOf('one', { doneMs: 1e6, deadMs: 1e6 }), access);
  }

  /** A client whose connection has proved an identity. */
  keyedClient(
    identity: string,
    options: { token?: string; exec?: string; rate?: SubmitQuota } = {},
  ): FakeClient {
    const { token = 't1', exec = 'one', rate } = options;
    const access: PeerAccess = {
      identity,
      permits: () => true,
      owns: () => true,
      takeSubmits: (jobs) => rate?.take(this.now, jobs) ?? true,
    };
    const policy = policyOf(exec, { doneMs: 1e6, deadMs: 1e6 });
    return new FakeClient(this, `${identity}/c`, token, policy, access);
  }

  worker(options: Partial<FakeWorkerOptions> = {}): FakeWorker {
    return new FakeWorker(this, {
      name: 'w',
      incarnation: '1',
      slots: 2,
      execs: ['one'],
      patterns: ['job.assign.>'],
      held: [],
      ...options,
    });
  }

  counts(): Record<string, number> {
    return { ...this.leader.ledger.counts };
  }
}

/** One client session, driven by the test. */
export class FakeClient {
  readonly received: ToClient[] = [];
  /** It takes no message. */
  isFull = false;
  isEnded = false;
  onReceived: (message: ToClient) => void = () => undefined;
  readonly session: ClientSession;
  private readonly harness: LeaderHarness;
  private seq = 0;
  private calls = 1_000;

  constructor(
    harness: LeaderHarness,
    client: string,
    token: string,
    policy: JobPolicy = policyOf('one', { doneMs: 1e6, deadMs: 1e6 }),
    access?: PeerAccess,
  ) {
    this.harness = harness;
    const offer = (message: ToClient): Delivered => {
      if (this.isFull) return 'full';
      this.received.push(message);
      this.onReceived(message);
      return 'accepted';
    };
    const endSlowReader = (): void => {
      this.isEnded = true;
    };
    this.session = harness.leader.openClient({ client, token }, { offer, access, endSlowReader });
    harness.settle();
    this.write({ kind: 'define', ref: 1, policy });
  }

  write(message: ClientMessage): void {
    this.harness.leader.fromClient(this.session, message);
    this.harness.settle();
  }

  submit(
    payload: string,
    extra: Partial<Pick<SubmitItem, 'ref' | 'key' | 'delayMs' | 'seq' | 'orderKey' | 'tags' | 'runAt'>> = {},
  ): Receipt | undefined {
    this.seq = extra.seq ?? this.seq + 1;
    const item = { ref: 1, payload, key: '', delayMs: 0, wantsOutcome: true, ...extra, seq: this.seq };
    this.write({ kind: 'submit', low: 0, items: [item] });
    return this.receipts()
      .filter((one) => one.seq === this.seq)
      .at(-1);
  }

  /** A call, and its answer so far. */
  call(request: AdminRequest): AdminAnswer | undefined {
    this.calls += 1;
    const { calls: call } = this;
    this.write({ kind: 'call', call, request });
    for (const message of this.received)
      if (message.kind === 'answer' && message.call === call) return message.answer;
    return undefined;
  }

  receipts(): Receipt[] {
    return this.received.flatMap((message) => (message.kind === 'receipts' ? message.items : []));
  }

  outcomes(): JobOutcome[] {
    return this.received.flatMap((message) => (message.kind === 'outcomes' ? message.items : []));
  }
}

interface FakeWorkerOptions {
  readonly name: string;
  readonly incarnation: string;
  readonly slots: number;
  readonly execs: readonly string[];
  readonly patterns: readonly string[];
  readonly held: readonly AttemptRef[];
  readonly streams?: readonly HeldStream[];
  readonly heartbeatToken?: string;
  readonly creditMax?: number;
  readonly access?: PeerAccess;
  /** Default: those of this version. */
  readonly features?: readonly string[];
  readonly labels?: readonly string[];
}

/** One worker session, driven by the test. */
export class FakeWorker {
  readonly received: ToWorker[] = [];
  /** It takes no message. */
  isFull = false;
  isEnded = false;
  onReceived: (message: ToWorker) => void = () => undefined;
  readonly session: WorkerSession;
  private readonly harness: LeaderHarness;
  private granted: number;

  constructor(harness: LeaderHarness, options: FakeWorkerOptions) {
    const { name, incarnation, slots, execs, patterns, held, streams, heartbeatToken = '' } = options;
    const { features = JOB_FEATURES } = options;
    this.harness = harness;
    this.granted = slots - held.length;
    this.session = harness.leader.openWorker(
      {
        worker: name,
        incarnation,
        slots,
        execs,
        patterns,
        held,
        streams,
        heartbeatToken,
        features,
        labels: options.labels,
        credit: { jobs: this.granted, bytes: 1_000_000 },
      },
      {
        creditMax: options.creditMax,
        access: options.access,
        endSlowReader: () => {
          this.isEnded = true;
        },
        offer: (message) => {
          if (this.isFull) return 'full';
          this.received.push(message);
          this.onReceived(message);
          return 'accepted';
        },
      },
    );
    harness.settle();
  }

  assigned(): Assignment[] {
    return this.received.flatMap((message) => (message.kind === 'assign' ? message.items : []));
  }

  acknowledged(): AttemptRange[] {
    return this.received.flatMap((message) => (message.kind === 'acknowledged' ? message.items : []));
  }

  aborted(): string[] {
    return this.received.flatMap((message) =>
      message.kind === 'abort' ? message.items.map((one) => `${one.job}.${one.attempt} ${one.reason}`) : [],
    );
  }

  /** Ends that were answered as too late. */
  stale(): string[] {
    return this.received.flatMap((message) =>
      message.kind === 'stale' ? message.items.map((one) => `${one.job}.${one.attempt}`) : [],
    );
  }

  /** Reports ends, and grants `returned` more jobs. */
  report(ends: readonly AttemptEnd[], returned = ends.length, runMs?: number): void {
    this.granted += returned;
    const credit = { jobs: this.granted, bytes: 1_000_000 };
    this.harness.leader.fromWorker(this.session, {
      kind: 'report',
      ends,
      credit,
      cpu: 0,
      lagMs: 0,
      runMs,
    });
    this.harness.settle();
  }

  succeed(attempt: AttemptRef, result = '1'): void {
    this.report([{ outcome: 'ok', job: attempt.job, attempt: attempt.attempt, result }]);
  }

  fail(attempt: AttemptRef): void {
    const failure = { name: 'Error', message: 'no' };
    this.report([{ outcome: 'failed', job: attempt.job, attempt: attempt.attempt, failure }]);
  }

  /** Fails with an error that is not retried. */
  failFinally(attempt: AttemptRef): void {
    const failure = { name: 'Error', message: 'never' };
    this.report([{ outcome: 'final', job: attempt.job, attempt: attempt.attempt, failure }]);
  }

  disconnect(): void {
    this.harness.leader.closed(this.session);
    this.harness.settle();
  }
}

/** Fails the test where there is no such element. */
export function nth<T>(all: readonly T[], index: number): T {
  const one = all[index];
  if (one === undefined) throw new Error(`there are ${all.length}, not ${index + 1}`);
  return one;
}
