import { crc32 } from 'node:zlib';
import type { StorageFile } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { ByteReader } from '#src/bytes/byte-reader.js';
import { ClientMachine } from '#src/client/machine/client-machine.js';
import { SubmitWindow } from '#src/client/machine/submit-window.js';
import { AdminApi } from '#src/leader/admin/admin-api.js';
import { CommitEffects } from '#src/leader/commit/commit-effects.js';
import { JournalWriter } from '#src/leader/commit/journal-writer.js';
import { AttemptLifecycle } from '#src/leader/dispatch/attempt-lifecycle.js';
import { JobQueues } from '#src/leader/dispatch/job-queues.js';
import { LeaseWatch } from '#src/leader/dispatch/lease-watch.js';
import { Leader } from '#src/leader/leader.js';
import { LeaderTime } from '#src/leader/leader-time.js';
import { ClientSession } from '#src/leader/sessions/client-session.js';
import { SessionRegistry } from '#src/leader/sessions/session-registry.js';
import { WorkerSession } from '#src/leader/sessions/worker-session.js';
import { SubmitProcessor } from '#src/leader/submit/submit-processor.js';
import { IdentityUsage, IdentityUsages } from '#src/ledger/identity-usage.js';
import type { Job } from '#src/ledger/jobs/job.js';
import type { StoredPolicy } from '#src/ledger/jobs/stored-policy.js';
import { KeyWindow, windowKey } from '#src/ledger/key-window.js';
import { Ledger } from '#src/ledger/ledger.js';
import { LEDGER_FORMAT } from '#src/ledger/ledger-format.js';
import { Producer } from '#src/ledger/producer.js';
import type { Attempt } from '#src/worker/attempt/attempt.js';
import { HandlerSlots } from '#src/worker/credit/handler-slots.js';
import { RunnerPool } from '#src/worker/runners/runner-pool.js';
import type { RunnerPools } from '#src/worker/runners/runner-pools.js';
import { Worker } from '#src/worker/worker.js';
import { LATER_OPTIONAL, LATER_REQUIRED } from '../ledger/later-version.js';
import { damageOf } from './leader-disk.js';
import type { LeaderFaults } from './simulated-cluster.js';

/** Methods by name, private ones too: a bug is planted from outside, so the product has no switch for it. */
type Loose = Record<string, (this: never, ...args: never[]) => unknown>;

export interface PlantedBug {
  readonly name: string;
  /** Plants the bug; returns a function that removes it. */
  plant(): () => void;
  readonly leaderFaults?: LeaderFaults;
}

export function swap(
  owner: { prototype: object },
  method: string,
  make: (original: (...args: unknown[]) => unknown) => unknown,
): () => void {
  const methods = owner.prototype as Loose;
  const original = methods[method] as (...args: unknown[]) => unknown;
  if (original === undefined) throw new Error(`nothing to break: no method ${method}`);
  methods[method] = make(original) as Loose[string];
  return () => {
    methods[method] = original as Loose[string];
  };
}

export function swapGetter(owner: { prototype: object }, name: string, get: () => unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(owner.prototype, name);
  if (original?.get === undefined) throw new Error(`nothing to break: no getter ${name}`);
  Object.defineProperty(owner.prototype, name, { ...original, get });
  return () => Object.defineProperty(owner.prototype, name, original);
}

interface JournalWriterInside {
  readonly form: unknown;
  filling: { size: number };
  onDurable(batch: unknown, lsn: number): void;
  log: { append(entries: Uint8Array[]): void };
}

/** A log that takes a failed sync for one that has worked. */
class FailedSyncIgnored extends FaultyStorage {
  override sync(file: StorageFile, done: (error: Error | null) => void): void {
    super.sync(file, () => done(null));
  }
}

/** A log that ignores how much of a write was done. */
class ShortWriteIgnored extends FaultyStorage {
  override write(
    file: StorageFile,
    bytes: Uint8Array,
    position: number,
    done: (error: Error | null, written: number) => void,
  ): void {
    super.write(file, bytes, position, (error) => done(error, bytes.length));
  }
}

/** A log that takes the format of every folder for its own. */
class FormatIgnored extends FaultyStorage {
  override read(
    file: StorageFile,
    into: Uint8Array,
    position: number,
    done: (error: Error | null, count: number) => void,
  ): void {
    super.read(file, into, position, (error, count) => {
      if (file.name === 'STORE' && error === null)
        withOwnFormat(Buffer.from(into.buffer, into.byteOffset, count));
      done(error, count);
    });
  }
}

/** STORE is a line with the length and the digest of the line after it. */
function withOwnFormat(store: Buffer): void {
  const start = store.indexOf(10) + 1;
  const later = `"minor":${LEDGER_FORMAT.minor + 1},"since"`;
  const at = store.indexOf(later);
  if (at < 0) return;
  store.write(`"minor":${LEDGER_FORMAT.minor},"since"`, at);
  store.write(crc32(store.subarray(start)).toString(16).padStart(8, '0'), start - 9);
}

/** A log that reads the epoch when it has claimed it, and never again. */
class EpochReadOnce extends FaultyStorage {
  private epoch: Buffer | undefined;

  override readNow(file: StorageFile, into: Uint8Array, position: number): number {
    if (this.epoch === undefined) {
      const count = super.readNow(file, into, position);
      this.epoch = Buffer.from(into.subarray(0, count));
    }
    return this.epoch.copy(into);
  }
}

/**
 * A log that publishes its epoch at the end of its opening: until the rename to CURRENT only it sees its
 * claim.
 */
class EpochPublishedLate extends FaultyStorage {
  private claim: { file: StorageFile; bytes: Buffer; position: number } | undefined;
  private isPublished = false;

  override write(
    file: StorageFile,
    bytes: Uint8Array,
    position: number,
    done: (error: Error | null, written: number) => void,
  ): void {
    if (file.name !== 'EPOCH' || this.isPublished) return super.write(file, bytes, position, done);
    this.claim = { file, bytes: Buffer.from(bytes), position };
    this.freeBytes(() => done(null, bytes.length));
  }

  override read(
    file: StorageFile,
    into: Uint8Array,
    position: number,
    done: (error: Error | null, count: number) => void,
  ): void {
    super.read(file, into, position, (error, count) =>
      done(error, file.name === 'EPOCH' ? this.withClaim(into, position, count) : count),
    );
  }

  override readNow(file: StorageFile, into: Uint8Array, position: number): number {
    return this.withClaim(into, position, super.readNow(file, into, position));
  }

  override rename(from: string, to: string, done: (error: Error | null) => void): void {
    const { claim } = this;
    if (to !== 'CURRENT' || claim === undefined || this.isPublished) return super.rename(from, to, done);
    this.isPublished = true;
    super.write(claim.file, claim.bytes, claim.position, () =>
      this.sync(claim.file, () => super.rename(from, to, done)),
    );
  }

  private withClaim(into: Uint8Array, from: number, count: number): number {
    const { claim } = this;
    if (claim === undefined || this.isPublished) return count;
    const at = claim.position - from;
    if (at < 0 || at + claim.bytes.length > into.length) return count;
    into.set(claim.bytes, at);
    return Math.max(count, at + claim.bytes.length);
  }
}

/** A log without a mark of its last durable batch. */
class MarkNotWritten extends FaultyStorage {
  override write(
    file: StorageFile,
    bytes: Uint8Array,
    position: number,
    done: (error: Error | null, written: number) => void,
  ): void {
    if (file.name === 'MARK') this.freeBytes(() => done(null, bytes.length));
    else super.write(file, bytes, position, done);
  }
}

/**
 * A log that takes damage for the end of what was written, in every file from there on. It has no mark, which
 * alone would refuse such a log.
 */
class DamageReadAsZeros extends MarkNotWritten {
  override read(
    file: StorageFile,
    into: Uint8Array,
    position: number,
    done: (error: Error | null, count: number) => void,
  ): void {
    super.read(file, into, position, (error, count) => {
      const damage = damageOf(this.disk);
      const isSegment = file.name.endsWith('.seg') && damage?.name.endsWith('.seg') === true;
      if (damage !== undefined && isSegment && file.name >= damage.name) {
        const from = file.name === damage.name ? Math.max(0, damage.offset - position) : 0;
        into.fill(0, Math.max(from, file.name === damage.name ? 0 : 4_096 - position));
      }
      done(error, count);
    });
  }
}

/** A disk that reports a sync and does not do it. */
class SyncSkipped extends FaultyStorage {
  override sync(_file: unknown, done: (error: Error | null) => void): void {
    // Completes as a call that changes nothing would.
    this.freeBytes(() => done(null));
  }
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'acknowledges before the batch is durable',
    plant: () =>
      swap(
        JournalWriter,
        'flush',
        () =>
          function flush(this: JournalWriterInside & Record<string, unknown>) {
            if (this.filling.size === 0) return;
            const batch = this.filling as unknown as { entries(): Uint8Array[]; clear(): void };
            const Batch = (batch as object).constructor as new (
              form: unknown,
            ) => JournalWriterInside['filling'];
            this.filling = new Batch(this.form);
            this.log.append(batch.entries());
            this.onDurable(batch, 1);
          },
      ),
  },
  {
    name: 'applies before it logs, and logs only later',
    plant: () =>
      swap(
        JournalWriter,
        'flush',
        () =>
          function flush(this: JournalWriterInside) {
            if (this.filling.size === 0) return;
            const batch = this.filling as unknown as { entries(): Uint8Array[] };
            const Batch = (batch as object).constructor as new (
              form: unknown,
            ) => JournalWriterInside['filling'];
            this.filling = new Batch(this.form);
            this.onDurable(batch, 1);
            this.log.append(batch.entries());
          },
      ),
  },
  {
    name: 'has a disk that reports a sync and does not do it',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new SyncSkipped(options) },
  },
  {
    name: 'takes a failed sync for a success',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new FailedSyncIgnored(options) },
  },
  {
    name: 'does not see that a write was cut short',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new ShortWriteIgnored(options) },
  },
  {
    name: 'takes damage in its log for the end of it, and has no mark of that end',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new DamageReadAsZeros(options) },
  },
  {
    name: 'takes zeros for the end of its log, and has no mark of that end',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new MarkNotWritten(options) },
  },
  {
    name: 'acknowledges without a look at the epoch after its write',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new EpochReadOnce(options) },
  },
  {
    name: 'publishes its epoch after it has read the log',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new EpochPublishedLate(options) },
  },
  {
    name: 'answers from its memory while another leader has its log',
    plant: () => swap(Leader, 'isOwner', () => () => true),
  },
  {
    name: 'does not exit when its log has failed',
    plant: () => () => undefined,
    leaderFaults: { ignoresFatal: true },
  },
  {
    name: 'takes the submits of a message in reverse order',
    plant: () =>
      swap(
        Leader,
        'fromClient',
        (original) =>
          function fromClient(this: Leader, session: unknown, message: { kind: string; items?: unknown[] }) {
            const isBatch = message.kind === 'submit' && message.items !== undefined;
            original.call(
              this,
              session,
              isBatch ? { ...message, items: message.items?.toReversed() } : message,
            );
          },
      ),
  },
  {
    name: 'answers the latest submit first',
    plant: () =>
      swap(
        ClientSession,
        'flush',
        (original) =>
          function flush(this: { receipts: unknown[] | undefined }) {
            this.receipts?.reverse();
            return original.call(this);
          },
      ),
  },
  {
    name: 'frees the slot of a handler that ignores its signal',
    plant: () =>
      swap(
        Worker,
        'end',
        (original) =>
          function end(this: unknown, attempt: { isUnderWay: boolean }, outcome: unknown) {
            attempt.isUnderWay = false;
            return original.call(this, attempt, outcome);
          },
      ),
  },
  {
    name: 'accepts the end of a stale attempt',
    plant: () =>
      swap(
        AttemptLifecycle,
        'report',
        (original) =>
          function report(this: { context: Leader }, session: unknown, end: { job: number }) {
            const job = this.context.ledger.jobs.get(end.job);
            const lease = job?.lease;
            const forged = lease === undefined ? end : { ...end, attempt: lease.attempt };
            const holder = lease === undefined ? session : lease.session;
            return original.call(this, holder, forged);
          },
      ),
  },
  {
    name: 'keeps assignments back and sends them whatever has become of their jobs',
    plant: () => {
      const kept = new WeakMap<object, unknown[][]>();
      return swap(
        WorkerSession,
        'flush',
        (original) =>
          function flush(this: { assignments: unknown[] | undefined }) {
            const late = [...(kept.get(this) ?? []), this.assignments ?? []];
            this.assignments = late.length > 8 ? late.shift() : undefined;
            kept.set(this, late);
            return original.call(this);
          },
      );
    },
  },
  {
    name: 'forgets credit that comes while no job waits',
    plant: () =>
      swap(
        SessionRegistry,
        'fromWorker',
        (original) =>
          function fromWorker(
            this: { context: Leader },
            session: { granted: number; spent: number },
            message: unknown,
          ) {
            original.call(this, session, message);
            if (this.context.ledger.counts.queued === 0) session.spent = session.granted;
          },
      ),
  },
  {
    name: 'loses a queue whose lane comes back',
    plant: () =>
      swap(
        JobQueues,
        'returnQueue',
        (original) =>
          function returnQueue(this: object, queue: { round: { size: number }; exec: string }) {
            if (queue.round.size === 1 && queue.exec === 'sim.slow') return undefined;
            return original.call(this, queue);
          },
      ),
  },
  {
    name: 'forgets the attempt when a job is requeued',
    plant: () =>
      swap(
        Ledger,
        'requeue',
        (original) =>
          function requeue(this: Ledger, record: unknown) {
            const job = original.call(this, record) as Job;
            job.attempt = 0;
            return job;
          },
      ),
  },
  {
    name: 'does not remember the number of a submit',
    plant: () => swap(Producer, 'addSubmit', () => () => undefined),
  },
  {
    name: 'does not remember the number of a submit behind a gap',
    plant: () =>
      swap(
        Producer,
        'addSubmit',
        (original) =>
          function addSubmit(this: Producer, seq: number, job: number, low: number, at: number) {
            this.advance(Math.min(low, seq - 1));
            if (seq === this.low + this.size + 1) original.call(this, seq, job, low, at);
          },
      ),
  },
  {
    name: 'forgets idempotency keys',
    plant: () => swap(KeyWindow, 'get', () => () => undefined),
  },
  {
    name: 'drops a job instead of putting it among the dead letters',
    plant: () =>
      swap(
        Ledger,
        'deadLetter',
        (original) =>
          function deadLetter(this: { drop(no: number, job: Job): void }, record: unknown) {
            const job = original.call(this, record) as Job;
            this.drop(job.no, job);
            return job;
          },
      ),
  },
  {
    name: 'answers a cancel without recording it',
    plant: () =>
      swap(
        AdminApi,
        'cancel',
        () =>
          function cancel(this: AdminApi, session: never, call: number) {
            this.answer(session, call, { kind: 'cancelled', state: 'cancelled' });
          },
      ),
  },
  {
    name: 'a retry wins over a cancel',
    plant: () =>
      swap(
        Ledger,
        'cancel',
        (original) =>
          function cancel(this: Ledger, record: { job: number }) {
            const job = this.jobs.get(record.job);
            return job?.state === 'running' ? job : original.call(this, record);
          },
      ),
  },
  {
    name: 'never takes a job back from a lost worker',
    plant: () => swap(LeaseWatch, 'reclaimLeases', () => () => undefined),
  },
  {
    name: 'a client does not submit again after a reconnect',
    plant: () => swap(SubmitWindow, 'rewind', () => () => undefined),
  },
  {
    name: 'a client does not await its jobs again after a reconnect',
    plant: () =>
      swap(
        ClientMachine,
        'welcomed',
        (original) =>
          function welcomed(this: { outcomes: { jobs(): number[] } }, message: unknown) {
            const { outcomes } = this;
            const jobs = outcomes.jobs;
            outcomes.jobs = () => [];
            original.call(this, message);
            outcomes.jobs = jobs;
          },
      ),
  },
  {
    name: 'a worker grants a slot twice',
    plant: () =>
      swap(
        HandlerSlots,
        'release',
        (original) =>
          function release(this: { granted: number }, attempt: object) {
            original.call(this, attempt);
            this.granted += 1;
          },
      ),
  },
  {
    name: 'a worker begins what it has no slot for',
    plant: () =>
      swap(
        Worker,
        'enqueue',
        () =>
          function enqueue(this: { begin(attempt: object, now: number): void }, attempt: { since: number }) {
            this.begin(attempt, attempt.since);
          },
      ),
  },
  {
    name: 'keeps no result',
    plant: () =>
      swap(
        Ledger,
        'ack',
        (original) =>
          function ack(this: Ledger, record: object) {
            return original.call(this, { ...record, result: '' });
          },
      ),
  },
  {
    name: 'decides at random while applying',
    plant: () => {
      let calls = 0;
      return swap(
        Ledger,
        'requeue',
        (original) =>
          function requeue(this: Ledger, record: { dueAt: number }) {
            calls += 1;
            return original.call(this, { ...record, dueAt: record.dueAt + (calls % 7) });
          },
      );
    },
  },
  {
    name: 'looks for a job that retention has dropped by the record that ended it',
    plant: () =>
      swap(
        CommitEffects,
        'run',
        (original) =>
          function run(
            this: { context: Leader },
            record: { job?: number },
            _applied: unknown,
            ...rest: unknown[]
          ) {
            const found = record.job === undefined ? undefined : this.context.ledger.jobs.get(record.job);
            original.call(this, record, found, ...rest);
          },
      ),
  },
  {
    name: 'lets the first group of an exec decide for all',
    plant: () => {
      const first = new WeakMap<object, Map<string, string>>();
      return swap(
        JobQueues,
        'laneOf',
        (original) =>
          function laneOf(this: object, { exec, group }: { exec: string; group: string }, client: string) {
            const groups = first.get(this) ?? new Map<string, string>();
            first.set(this, groups);
            if (!groups.has(exec)) groups.set(exec, group);
            return original.call(this, { exec, group: groups.get(exec) }, client);
          },
      );
    },
  },
  {
    name: 'lets the wall clock hold up its delays',
    plant: () =>
      swap(
        LeaderTime,
        'read',
        () =>
          function read(this: { record: number; clock: Leader['clock'] }) {
            this.record = Math.max(this.clock.wallNow(), this.record);
          },
      ),
  },
  {
    name: 'keeps the key of a job that was purged',
    plant: () => swap(KeyWindow, 'free', () => () => undefined),
  },
  {
    name: 'frees the key of a job that was done',
    plant: () =>
      swap(
        Ledger,
        'drop',
        (original) =>
          function drop(
            this: Ledger,
            no: number,
            job: { key: string; client: string; policy: StoredPolicy },
          ) {
            original.call(this, no, job);
            if (job.key !== '') this.keys.free(windowKey(job.client, job.policy.exec, job.key), no);
          },
      ),
  },
  {
    name: 'lists dead letters that were purged',
    plant: () => {
      const seen = new WeakMap<Ledger, Set<Job>>();
      return swap(
        AdminApi,
        'serve',
        (original) =>
          function serve(
            this: { context: Leader; listing: { start(...args: unknown[]): void } },
            session: unknown,
            call: unknown,
            request: { kind: string; state?: string },
          ) {
            const { ledger } = this.context;
            const dead = seen.get(ledger) ?? new Set<Job>();
            seen.set(ledger, dead);
            for (const job of (ledger.dead as unknown as { jobs: Job[] }).jobs) dead.add(job);
            if (request.kind !== 'list' || request.state !== 'dead')
              return original.call(this, session, call, request);
            return this.listing.start(session, call, request, { after: () => [...dead].values() });
          },
      );
    },
  },
  {
    name: 'takes the end of a connection for the end of its client',
    plant: () =>
      swap(
        SessionRegistry,
        'clientClosed',
        (original) =>
          function clientClosed(this: { producers: { end(session: unknown): void } }, session: unknown) {
            this.producers.end(session);
            original.call(this, session);
          },
      ),
  },
  {
    name: 'does not count what a client has running',
    plant: () =>
      swap(
        JobQueues,
        'take',
        (original) =>
          function take(
            this: object,
            queue: { round: { peek(): { quota: { running: number } } } },
            options: unknown,
          ) {
            const { quota } = queue.round.peek();
            original.call(this, queue, options);
            quota.running = Math.max(0, quota.running - 1);
          },
      ),
  },
  {
    name: 'redrives a dead letter with its counts spent',
    plant: () =>
      swap(
        Ledger,
        'redrive',
        (original) =>
          function redrive(this: Ledger, record: { jobs: number[] }) {
            const counts = new Map(record.jobs.map((no) => [no, this.jobs.get(no)?.failures ?? 0]));
            original.call(this, record);
            for (const [no, failures] of counts) {
              const job = this.jobs.get(no);
              if (job !== undefined) job.failures = failures;
            }
          },
      ),
  },
  {
    name: 'forgets a purge',
    plant: () => swap(Ledger, 'purge', () => () => undefined),
  },
  {
    name: 'drops results that are due without a record of it',
    plant: () =>
      swap(
        Leader,
        'expire',
        () =>
          function expire(this: Leader) {
            const ledger = this.ledger as unknown as { advance(at: number, expiriesMax: number): void };
            ledger.advance(this.recordTime, 1_000);
          },
      ),
  },
  {
    name: 'shows results whose time is over',
    plant: () => swap(Ledger, 'isExpired', () => () => false),
  },
  {
    name: 'keeps more results than it may',
    plant: () => swapGetter(Ledger, 'hasTooManyResults', () => false),
  },
  {
    name: 'answers a stale end as recorded',
    plant: () =>
      swap(
        WorkerSession,
        'answerStale',
        () =>
          function answerStale(this: WorkerSession, job: number, attempt: number) {
            this.acknowledge(job, attempt, 0);
          },
      ),
  },
  {
    name: 'drives a job again when a redrive is repeated',
    plant: () =>
      swap(
        AdminApi,
        'redriveOrPurge',
        (original) =>
          function redriveOrPurge(this: AdminApi, session: unknown, call: unknown, request: object) {
            return original.call(this, session, call, { ...request, attempts: undefined });
          },
      ),
  },
  {
    name: 'does not record the reason of a cancel',
    plant: () =>
      swap(
        AdminApi,
        'cancel',
        (original) =>
          function cancel(this: AdminApi, session: unknown, call: unknown, request: object) {
            return original.call(this, session, call, { ...request, reason: '' });
          },
      ),
  },
  {
    name: 'aborts a handler without the reason of the cancel',
    plant: () =>
      swap(
        WorkerSession,
        'abort',
        (original) =>
          function abort(this: WorkerSession, job: unknown, attempt: unknown, reason: unknown) {
            return original.call(this, job, attempt, reason, '');
          },
      ),
  },
  {
    name: 'counts ended jobs against the quota of their identity',
    plant: () =>
      swap(
        Ledger,
        'removeLive',
        () =>
          function removeLive(this: Ledger, { payload }: Job) {
            this.liveBytes -= payload.length;
          },
      ),
  },
  {
    name: 'does not count the jobs of an identity',
    plant: () => swap(IdentityUsages, 'get', () => () => new IdentityUsage()),
  },
  {
    name: 'refuses every submit while the dead letters are full',
    plant: () =>
      swap(
        IdentityUsages,
        'get',
        (original) =>
          function get(this: IdentityUsages, identity: string) {
            const all = { get: () => Number.POSITIVE_INFINITY, size: 1 };
            return Object.assign(Object.create(original.call(this, identity) as object), { deadByExec: all });
          },
      ),
  },
  {
    name: 'counts every key of an identity twice',
    plant: () =>
      swap(
        KeyWindow,
        'count',
        (original) =>
          function count(this: KeyWindow, key: string, change: number) {
            return original.call(this, key, 2 * change);
          },
      ),
  },
  {
    name: 'ignores how many attempts a connection allows',
    plant: () =>
      swap(
        SessionRegistry,
        'openWorker',
        (original) =>
          function openWorker(
            this: SessionRegistry,
            hello: unknown,
            port: { write(message: unknown): void },
          ) {
            return original.call(this, hello, { write: (message: unknown) => port.write(message) });
          },
      ),
  },
  {
    name: 'sends the outcomes of a batch to a client that does not want them',
    plant: () =>
      swap(
        SubmitProcessor,
        'stageAll',
        (original) =>
          function stageAll(this: unknown, session: unknown, message: { items: object[] }, rest: unknown) {
            const items = message.items.map((item) => ({ ...item, wantsOutcome: true }));
            return original.call(this, session, { ...message, items }, rest);
          },
      ),
  },
  {
    name: 'ends an entry at an optional record of a later version',
    plant: () =>
      swap(
        ByteReader,
        'view',
        (original) =>
          function view(this: { at: number; end: number }, bytes: number) {
            const skipped = original.call(this, bytes);
            this.at = this.end;
            return skipped;
          },
      ),
  },
  {
    name: 'reads the optional fields of a later version as fields of its own',
    plant: () =>
      swap(
        ByteReader,
        'countItem',
        () =>
          function countItem(this: { at: number }) {
            this.at -= 1;
          },
      ),
  },
  {
    name: 'skips a required record of a later version',
    plant: () =>
      swap(
        ByteReader,
        'byte',
        (original) =>
          function byte(this: unknown) {
            const value = original.call(this);
            return value === LATER_REQUIRED ? LATER_OPTIONAL : value;
          },
      ),
  },
  {
    name: 'opens a folder without a look at its format',
    plant: () => () => undefined,
    leaderFaults: { storage: (options) => new FormatIgnored(options) },
  },
  {
    name: 'gives the instance of a warm runner back at the end of the attempt, not of its handler',
    plant: () =>
      swap(
        Worker,
        'end',
        (original) =>
          function end(this: { runners: RunnerPools }, attempt: Attempt, ended: unknown) {
            original.call(this, attempt, ended);
            this.runners.release(attempt, { isError: false });
          },
      ),
  },
  {
    name: 'gives one instance of a warm runner to two attempts',
    plant: () =>
      swap(
        RunnerPool,
        'take',
        (original) =>
          function take(this: unknown, attempt: unknown) {
            const instance = original.call(this, attempt) as { stage: string };
            instance.stage = 'idle';
            return instance;
          },
      ),
  },
];
