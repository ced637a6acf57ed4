import type { StorageFile } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { Client } from '#src/client/client.js';
import { SubmitWindow } from '#src/client/submit-window.js';
import { AdminApi } from '#src/leader/admin/admin-api.js';
import { CommitEffects } from '#src/leader/commit/commit-effects.js';
import { Staging } from '#src/leader/commit/staging.js';
import { Attempts } from '#src/leader/dispatch/attempts.js';
import { JobQueues } from '#src/leader/dispatch/job-queues.js';
import { LeaseWatch } from '#src/leader/dispatch/lease-watch.js';
import { Leader } from '#src/leader/leader.js';
import { ClientSession } from '#src/leader/sessions/client-session.js';
import { SessionRegistry } from '#src/leader/sessions/session-registry.js';
import { WorkerSession } from '#src/leader/sessions/worker-session.js';
import type { Job, StoredPolicy } from '#src/ledger/job.js';
import { KeyWindow, windowKey } from '#src/ledger/key-window.js';
import { Ledger } from '#src/ledger/ledger.js';
import { Producer } from '#src/ledger/producer.js';
import { HandlerSlots } from '#src/worker/handler-slots.js';
import { Worker } from '#src/worker/worker.js';
import type { SimMachine } from './sim-cluster.js';
import { damageOf } from './sim-disk.js';

/** Methods by name, private ones too: a planted bug changes the product from outside, so the product holds no switch for it. */
type Loose = Record<string, (this: never, ...args: never[]) => unknown>;

export interface PlantedBug {
  readonly name: string;
  /** Changes the code; returns what puts it right again. */
  plant(): () => void;
  readonly machine?: SimMachine;
}

function swap(
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

interface StagingInside {
  filling: { size: number };
  onDurable(batch: unknown, lsn: number): void;
  journal: { append(entries: Uint8Array[], done: () => void): void };
}

/** A log that takes a failed sync for one that has worked. */
class CarelessStorage extends FaultyStorage {
  override sync(file: StorageFile, done: (error: Error | null) => void): void {
    super.sync(file, () => done(null));
  }
}

/** A log that does not look how much of a write was taken. */
class TrustingStorage extends FaultyStorage {
  override write(
    file: StorageFile,
    bytes: Uint8Array,
    position: number,
    done: (error: Error | null, written: number) => void,
  ): void {
    super.write(file, bytes, position, (error) => done(error, bytes.length));
  }
}

/** A log that takes what it cannot read for what was never written, in every file from there on. */
class ForgivingStorage extends FaultyStorage {
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

/** A disk that says it has synced and has not. */
class LyingStorage extends FaultyStorage {
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
        Staging,
        'flush',
        () =>
          function flush(this: StagingInside & Record<string, unknown>) {
            if (this.filling.size === 0) return;
            const batch = this.filling as unknown as { entries(): Uint8Array[]; clear(): void };
            const Batch = (batch as object).constructor as new () => StagingInside['filling'];
            this.filling = new Batch();
            this.journal.append(batch.entries(), () => undefined);
            this.onDurable(batch, 1);
          },
      ),
  },
  {
    name: 'applies before it logs, and logs only later',
    plant: () =>
      swap(
        Staging,
        'flush',
        () =>
          function flush(this: StagingInside) {
            if (this.filling.size === 0) return;
            const batch = this.filling as unknown as { entries(): Uint8Array[] };
            const Batch = (batch as object).constructor as new () => StagingInside['filling'];
            this.filling = new Batch();
            this.onDurable(batch, 1);
            this.journal.append(batch.entries(), () => undefined);
          },
      ),
  },
  {
    name: 'a disk whose sync lies',
    plant: () => () => undefined,
    machine: { storage: (options) => new LyingStorage(options) },
  },
  {
    name: 'takes a failed sync for a success',
    plant: () => () => undefined,
    machine: { storage: (options) => new CarelessStorage(options) },
  },
  {
    name: 'does not see that a write was cut short',
    plant: () => () => undefined,
    machine: { storage: (options) => new TrustingStorage(options) },
  },
  {
    name: 'takes damage in its log for the end of it',
    plant: () => () => undefined,
    machine: { storage: (options) => new ForgivingStorage(options) },
  },
  {
    name: 'lives on when its log has failed',
    plant: () => () => undefined,
    machine: { livesOn: true },
  },
  {
    name: 'takes the submits of a message in the order of its own liking',
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
          function flush(this: { receipts: unknown[] }) {
            this.receipts.reverse();
            original.call(this);
          },
      ),
  },
  {
    name: 'accepts the end of a stale attempt',
    plant: () =>
      swap(
        Attempts,
        'ended',
        (original) =>
          function ended(this: { context: Leader }, session: unknown, end: { job: number }) {
            const job = this.context.ledger.jobs.get(end.job);
            const lease = job?.lease as { attempt: number; session: { name: string } } | undefined;
            const forged = lease === undefined ? end : { ...end, attempt: lease.attempt };
            const asker = lease === undefined ? session : lease.session;
            return original.call(this, asker, forged);
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
          function flush(this: { assigns: unknown[] }) {
            const late = [...(kept.get(this) ?? []), this.assigns];
            this.assigns = late.length > 8 ? (late.shift() ?? []) : [];
            kept.set(this, late);
            original.call(this);
          },
      );
    },
  },
  {
    name: 'forgets credit that comes while nothing waits (A1)',
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
    name: 'loses the wake-up of an exec whose lane comes back (A27)',
    plant: () =>
      swap(
        JobQueues,
        'release',
        (original) =>
          function release(this: object, exec: { round: { size: number }; exec: string }) {
            if (exec.round.size === 1 && exec.exec === 'sim.slow') return undefined;
            return original.call(this, exec);
          },
      ),
  },
  {
    name: 'forgets the attempt when a job is requeued (A25)',
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
    plant: () => swap(Producer, 'taken', () => () => undefined),
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
        'die',
        (original) =>
          function die(this: { drop(job: unknown): void }, record: unknown) {
            const job = original.call(this, record);
            this.drop(job);
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
    plant: () => swap(LeaseWatch, 'mourn', () => () => undefined),
  },
  {
    name: 'a client does not ask again after a reconnect',
    plant: () => swap(SubmitWindow, 'rewind', () => () => undefined),
  },
  {
    name: 'a client forgets what it waits for when it reconnects',
    plant: () =>
      swap(
        Client,
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
    name: 'a worker grants a slot twice (A23)',
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
    name: 'decides by chance while applying',
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
        'act',
        (original) =>
          function act(
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
        Leader,
        'readClock',
        () =>
          function readClock(this: { turnAt: number; host: Leader['host']; ledger: Ledger }) {
            this.turnAt = Math.max(this.host.wallNow(), this.ledger.now, this.turnAt);
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
        'forget',
        (original) =>
          function forget(
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
    plant: () =>
      swap(
        AdminApi,
        'serve',
        (original) =>
          function serve(
            this: { context: Leader; walks: { start(...args: unknown[]): void } },
            session: unknown,
            call: unknown,
            request: { kind: string; state?: string },
          ) {
            if (request.kind !== 'list' || request.state !== 'dead')
              return original.call(this, session, call, request);
            // The heap of their retention, in which those that were purged stay until their time.
            const { values } = this.context.ledger.dead as unknown as { values: Job[] };
            return this.walks.start(session, call, request, { after: () => [...values].values() });
          },
      ),
  },
  {
    name: 'takes the end of a connection for a goodbye',
    plant: () =>
      swap(
        SessionRegistry,
        'parted',
        (original) =>
          function parted(this: { producers: { leave(session: unknown): void } }, session: unknown) {
            this.producers.leave(session);
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
            exec: { round: { peek(): { share: { running: number } } } },
            options: unknown,
          ) {
            const { share } = exec.round.peek();
            original.call(this, exec, options);
            share.running = Math.max(0, share.running - 1);
          },
      ),
  },
  {
    name: 'drives a dead letter again with its counts spent',
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
];
