import { createHash } from 'node:crypto';
import type { ManualHost } from '@troupe/core/testing';
import type { Sql } from 'postgres';
import { RowLock } from './row-lock.js';

interface Head {
  epoch: number;
  lsn: number;
  lease: number;
}

interface Lease {
  id: number;
  endsAt: number;
}

export interface ProcessLink {
  readonly isAlive: boolean;
  /** Nothing goes through before this time. */
  readonly cutUntil: number;
}

/** One connection. */
interface Session {
  isClosed: boolean;
  readonly waiting: Set<(error: Error) => void>;
  transaction: Scope | undefined;
}

/** A transaction, or a statement outside of one: its locks, and what it has not committed. */
class Scope {
  readonly isTransaction: boolean;
  readonly held: RowLock[] = [];
  readonly changes: (() => void)[] = [];
  isOver = false;

  constructor(isTransaction: boolean) {
    this.isTransaction = isTransaction;
  }

  commit(): void {
    if (!this.isOver) for (const change of this.changes) change();
    this.rollBack();
  }

  rollBack(): void {
    this.isOver = true;
    for (const lock of this.held.splice(0)) lock.release();
  }
}

type Rows = object[] & { count?: number };

/** Deviations of the server or of the statements from what they should be. */
export type PlantedFault =
  | 'append-without-epoch'
  | 'append-by-the-head-before-the-lock'
  | 'lease-always-free'
  | 'lease-by-a-local-clock'
  | 'unknown-outcome-taken-as-committed'
  | 'take-over-by-the-head-before-the-lock'
  | 'snapshot-ahead-of-the-log';

/** The difference of a local clock. */
const SKEW_MS = 700;

/**
 * The tables of a log in virtual time. A statement takes its time to the server, holds the lock of its row
 * until its commit, and its answer may be late or lost with its connection while it is carried out.
 */
export class SimulatedDatabase {
  readonly head: Head = { epoch: 0, lsn: 0, lease: 0 };
  readonly lease: Lease = { id: 0, endsAt: 0 };
  readonly batches = new Map<number, Buffer>();
  /** Called when the commit of a take-over is visible. */
  onTakenOver: (leaseId: number) => void = () => undefined;
  private readonly locks = { head: new RowLock(), lease: new RowLock() };
  private readonly host: ManualHost;
  private readonly random: () => number;
  private readonly fault: PlantedFault | undefined;
  private troubled = true;
  private readonly sessions = new Set<{ readonly session: Session; readonly link: ProcessLink }>();

  constructor(host: ManualHost, random: () => number, fault: PlantedFault | undefined) {
    this.host = host;
    this.random = random;
    this.fault = fault;
  }

  /** Connections of processes that have ended are closed: their transactions are rolled back. */
  closeOfEnded(): void {
    for (const entry of this.sessions)
      if (!entry.link.isAlive || entry.session.isClosed) {
        this.close(entry.session, 'CONNECTION_CLOSED');
        this.sessions.delete(entry);
      }
  }

  /** From now on every answer comes, and soon. */
  calm(): void {
    this.troubled = false;
  }

  /** `link`: the process behind the connection, and its network. */
  connect(link: ProcessLink, onClosed: () => void): Sql {
    const session: Session = {
      isClosed: false,
      waiting: new Set(),
      transaction: undefined,
    };
    this.sessions.add({ session, link });
    const sql = ((first: unknown, ...values: unknown[]) =>
      Array.isArray(first) && 'raw' in first
        ? new LazyQuery(() => this.request(session, first.join('?'), values, link, onClosed))
        : first) as unknown as Record<string, unknown>;
    sql['unsafe'] = () => Promise.resolve([]);
    sql['json'] = (value: unknown) => value;
    sql['end'] = () => Promise.resolve(this.close(session, 'CONNECTION_DESTROYED'));
    sql['begin'] = async (run: (tx: unknown) => Promise<unknown>) => {
      const transaction = new Scope(true);
      session.transaction = transaction;
      try {
        const result = await run(sql);
        await this.request(session, 'commit', [], link, onClosed);
        return result;
      } finally {
        session.transaction = undefined;
        transaction.rollBack();
      }
    };
    return sql as unknown as Sql;
  }

  /** One statement and its answer; the answer may be lost, with the connection. */
  private async request(
    session: Session,
    text: string,
    values: readonly unknown[],
    link: ProcessLink,
    onClosed: () => void,
  ): Promise<Rows> {
    if (session.isClosed) throw broken('CONNECTION_ENDED');
    const scope = session.transaction ?? new Scope(false);
    return new Promise<Rows>((resolve, reject) => {
      session.waiting.add(reject);
      this.after(this.delay(link), async () => {
        // A request that its process had sent is carried out, whether its process lives or not.
        const rows = await this.execute(scope, text, values);
        this.after(this.delay(link), () => {
          if (!link.isAlive || !session.waiting.delete(reject)) return;
          if (!this.troubled || this.random() > 0.06) return resolve(rows);
          this.close(session, 'CONNECTION_CLOSED');
          reject(broken('CONNECTION_CLOSED'));
          onClosed();
        });
      });
    });
  }

  private close(session: Session, code: string): void {
    session.isClosed = true;
    session.transaction?.rollBack();
    for (const reject of session.waiting) reject(broken(code));
    session.waiting.clear();
  }

  private async execute(scope: Scope, text: string, values: readonly unknown[]): Promise<Rows> {
    if (text === 'commit') {
      scope.commit();
      return [];
    }
    if (text.includes('current_setting'))
      return [{ fsync: 'on', full_page_writes: 'on', standbys: '', connected: 0 }];
    if (text.includes('select version')) return [{ version: 5 }];
    if (text.includes('select content')) return [{ content: null }];
    if (text.includes('select epoch, lsn from head')) return [{ ...this.head }];
    if (text.includes('from snapshot') && this.fault === 'snapshot-ahead-of-the-log')
      return [{ lsn: this.head.lsn + 1, parts: 0 }];
    if (text.includes('select id, leader')) return [this.leaseView()];
    if (text.includes('select lsn, bytes from batch')) return this.read(values);
    if (text.includes('md5(bytes)')) return this.digest(values);
    if (text.includes('insert into batch')) return this.append(scope, values);
    if (text.includes('from lease for update')) return this.lockLease(scope);
    if (text.includes('update head set epoch = epoch + 1, lease')) return this.takeOver(scope, values);
    if (text.includes('update head set epoch')) return this.takeAgain(scope, values);
    if (text.includes('update lease set id')) return this.takeLease(scope, values);
    if (text.includes('update lease set ends_at')) return this.changeLease(scope, text, values);
    return [];
  }

  private async append(scope: Scope, values: readonly unknown[]): Promise<Rows> {
    const [last, epoch, before, , first, , , bytes] = values as [
      number,
      number,
      number,
      unknown,
      number,
      number,
      number,
      Buffer,
    ];
    const seen = { ...this.head };
    await this.lock(scope, this.locks.head);
    const head = this.fault === 'append-by-the-head-before-the-lock' ? seen : this.head;
    const isOwn = this.fault === 'append-without-epoch' || head.epoch === epoch;
    const rows: Rows = [];
    rows.count = isOwn && head.lsn === before ? 1 : 0;
    if (rows.count === 1)
      scope.changes.push(() => {
        this.head.lsn = last;
        this.batches.set(first, Buffer.from(bytes));
      });
    await this.commit(scope);
    return rows;
  }

  private async takeAgain(scope: Scope, [leaseId]: readonly unknown[]): Promise<Rows> {
    await this.lock(scope, this.locks.head);
    if (this.head.lease !== leaseId) {
      await this.commit(scope);
      return [];
    }
    const taken = { ...this.head, epoch: this.head.epoch + 1 };
    scope.changes.push(() => Object.assign(this.head, taken));
    await this.commit(scope);
    return [this.fault === 'unknown-outcome-taken-as-committed' ? { ...taken, lsn: taken.lsn + 9 } : taken];
  }

  private async lockLease(scope: Scope): Promise<Rows> {
    await this.lock(scope, this.locks.lease);
    return [{ isFree: this.leaseLeftMs() <= 0 }];
  }

  private async takeOver(scope: Scope, [lease]: readonly unknown[]): Promise<Rows> {
    const seen = { ...this.head };
    await this.lock(scope, this.locks.head);
    const { lsn } = this.fault === 'take-over-by-the-head-before-the-lock' ? seen : this.head;
    const taken = { epoch: this.head.epoch + 1, lsn, lease: lease as number };
    scope.changes.push(() => {
      Object.assign(this.head, { epoch: taken.epoch, lease: taken.lease });
      this.onTakenOver(taken.lease);
    });
    return [taken];
  }

  private takeLease(scope: Scope, [id, , , ms]: readonly unknown[]): Rows {
    scope.changes.push(() => {
      this.lease.id = id as number;
      this.lease.endsAt = this.host.now() + (ms as number);
    });
    return [];
  }

  private async changeLease(scope: Scope, text: string, values: readonly unknown[]): Promise<Rows> {
    await this.lock(scope, this.locks.lease);
    const isEnd = text.includes('-infinity');
    const id = values[isEnd ? 0 : 1];
    const rows: Rows = [];
    rows.count = this.lease.id === id ? 1 : 0;
    if (rows.count === 1) this.lease.endsAt = isEnd ? 0 : this.host.now() + (values[0] as number);
    await this.commit(scope);
    return rows;
  }

  private leaseView(): object {
    return { id: this.lease.id, leader: 'x', addresses: '', leftMs: this.leaseLeftMs() };
  }

  private leaseLeftMs(): number {
    if (this.fault === 'lease-always-free') return 0;
    const skewMs = this.fault === 'lease-by-a-local-clock' ? SKEW_MS : 0;
    return this.lease.endsAt - this.host.now() - skewMs;
  }

  private read([after, last, limit]: readonly unknown[]): Rows {
    return [...this.batches]
      .filter(([lsn]) => lsn > (after as number) && lsn <= (last as number))
      .sort(([a], [b]) => a - b)
      .slice(0, limit as number)
      .map(([lsn, bytes]) => ({ lsn, bytes }));
  }

  private digest([lsn]: readonly unknown[]): Rows {
    const bytes = this.batches.get(lsn as number);
    return bytes === undefined ? [] : [{ md5: createHash('md5').update(bytes).digest('hex') }];
  }

  private async lock(scope: Scope, lock: RowLock): Promise<void> {
    if (scope.held.includes(lock)) return;
    await lock.take();
    // A transaction whose connection ended while it waited is rolled back.
    if (scope.isOver) lock.release();
    else scope.held.push(lock);
  }

  /** Outside a transaction a statement commits by itself, some time after it was carried out. */
  private async commit(scope: Scope): Promise<void> {
    if (scope.isTransaction) return;
    await new Promise<void>((resolve) => this.after(this.delay(), resolve));
    scope.commit();
  }

  /** Mostly a few milliseconds; sometimes longer than a lease, or until a network is well again. */
  private delay(link?: ProcessLink): number {
    const cutMs = Math.max(0, (link?.cutUntil ?? 0) - this.host.now());
    const chance = this.troubled ? this.random() : 1;
    if (chance < 0.02) return cutMs + this.random() * 3_000;
    return cutMs + this.random() * (chance < 0.1 ? 400 : 5);
  }

  private after(ms: number, run: () => void): void {
    this.host.setTimer(ms, run);
  }
}

/** As the client library does, a statement is sent when its promise is used. */
class LazyQuery {
  private readonly run: () => Promise<Rows>;

  constructor(run: () => Promise<Rows>) {
    this.run = run;
  }

  // biome-ignore lint/suspicious/noThenProperty: a statement of the client library is a thenable
  then<T, E>(resolve: (rows: Rows) => T, reject: (error: unknown) => E): Promise<T | E> {
    return this.run().then(resolve, reject);
  }
}

function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}
