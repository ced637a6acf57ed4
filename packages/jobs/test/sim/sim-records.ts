import type { OpenJournal } from '@troupe/jobs';
import type { JobPolicy } from '#src/job/job-policy.js';
import { payloadText } from '#src/job/payload.js';
import type {
  AckRecord,
  AssignRecord,
  CancelRecord,
  DeadRecord,
  LedgerRecord,
  RequeueRecord,
  Submission,
} from '#src/ledger/record.js';
import { decodeRecords } from '#src/ledger/record-codec.js';

type AboutOne = AssignRecord | AckRecord | CancelRecord | DeadRecord | RequeueRecord;
export type Fate = 'queued' | 'running' | 'done' | 'dead' | 'cancelled' | 'purged';

/** One job, as the records tell it. */
export interface Life {
  readonly no: number;
  readonly policy: JobPolicy;
  readonly client: string;
  readonly key: string;
  readonly payload: string;
  readonly at: number;
  fate: Fate;
  attempt: number;
  failures: number;
  crashes: number;
  endedAt: number;
  redriven: boolean;
  /** In the time of the simulation, not of the records. */
  purgedAt: number;
}

export interface RecordRules {
  readonly keyWindowMs: number;
  readonly clientRunningMax: number;
}

/**
 * Everything that became durable, in order, over crashes and snapshots; told by a model of its own, so that it does not share the
 * ledger's mistakes. Retention is not in it: a job that the ledger has dropped is still here, with how it ended.
 */
export class SimRecords {
  readonly lives = new Map<number, Life>();
  readonly problems: string[] = [];
  private readonly rules: RecordRules;
  private readonly now: () => number;
  private readonly policies = new Map<number, JobPolicy>();
  private readonly clients = new Map<number, string>();
  private readonly byKey = new Map<string, Life>();
  private readonly running = new Map<string, number>();
  private lastLsn = 0;
  /** How far the leader that starts has read. */
  private readTo = 0;

  constructor(rules: RecordRules, now: () => number) {
    this.rules = rules;
    this.now = now;
  }

  /** What is durable is seen when the leader hears of it, or when the next leader reads it. */
  watch(open: OpenJournal): OpenJournal {
    return (reader, done) => {
      this.readTo = 0;
      open(
        {
          snapshot: (chunk, lsn) => {
            this.readTo = lsn;
            reader.snapshot(chunk, lsn);
          },
          entry: (bytes, lsn) => {
            this.readTo = lsn;
            this.entry(bytes, lsn);
            reader.entry(bytes, lsn);
          },
        },
        (error, journal) => {
          if (journal === undefined) return done(error);
          // I14: a log is read to its end, or not at all.
          if (this.readTo < this.lastLsn)
            this.problems.push(`a leader starts with record ${this.readTo}, ${this.lastLsn} was durable`);
          done(null, {
            get diskLow() {
              return journal.diskLow;
            },
            payloads: journal.payloads,
            append: (entries, appended, stored) =>
              journal.append(
                entries,
                (failed, lsn) => {
                  if (failed === null) {
                    entries.forEach((bytes, i) => {
                      this.entry(bytes, lsn + i);
                    });
                  }
                  appended(failed, lsn);
                },
                stored,
              ),
            snapshot: (made) => journal.snapshot(made),
            close: (closed) => journal.close(closed),
          });
        },
      );
    };
  }

  isInWindow(earlier: Pick<Life, 'at'>, later: Pick<Life, 'at'>): boolean {
    return earlier.at + this.rules.keyWindowMs > later.at;
  }

  private entry(bytes: Uint8Array, lsn: number): void {
    if (lsn <= this.lastLsn) return;
    this.lastLsn = lsn;
    decodeRecords(bytes, (record) => this.record(record));
  }

  private record(record: LedgerRecord): void {
    switch (record.type) {
      case 'policy':
        this.policies.set(record.no, record.policy);
        return;
      case 'producer':
        this.clients.set(record.producer, record.client);
        return;
      case 'enqueue':
        return this.taken(record, record.producer, record.at);
      case 'enqueue_all':
        for (const job of record.jobs) this.taken(job, record.producer, record.at);
        return;
      case 'assign':
      case 'ack':
      case 'cancel':
      case 'retry':
      case 'timeout_requeue':
      case 'worker_down_requeue':
      case 'release':
      case 'dlq': {
        const life = this.lives.get(record.job);
        if (life === undefined)
          this.problems.push(`${record.type} of job ${record.job}, which was never taken`);
        else this.moved(life, record);
        return;
      }
      case 'redrive':
      case 'purge':
        for (const no of record.jobs) this.treated(this.lives.get(no), record.type, record.at);
        return;
      case 'genesis':
      case 'policy_drop':
      case 'producer_drop':
      case 'limits':
      case 'tick':
        return;
      default:
        return record satisfies never;
    }
  }

  private moved(life: Life, record: AboutOne): void {
    switch (record.type) {
      case 'assign':
        life.attempt = record.attempt;
        return this.assigned(life);
      case 'ack':
        return this.ended(life, 'done', record.at);
      case 'cancel':
        return this.ended(life, 'cancelled', record.at);
      case 'dlq':
        this.died(life, record.reason);
        return this.ended(life, 'dead', record.at);
      default:
        this.requeued(life, record.type);
        return this.ended(life, 'queued', 0);
    }
  }

  /** I8: a key stands for one job; for another only where the first came to nothing, or the window is over. */
  private taken(from: Submission, producer: number, at: number): void {
    const policy = this.policies.get(from.policy);
    const client = this.clients.get(producer);
    if (policy === undefined || client === undefined) {
      this.problems.push(`job ${from.job} was recorded before its policy or its client`);
      return;
    }
    const life: Life = {
      no: from.job,
      policy,
      client,
      key: from.key,
      payload: payloadText(from.payload),
      at,
      fate: 'queued',
      attempt: 0,
      failures: 0,
      crashes: 0,
      endedAt: 0,
      redriven: false,
      purgedAt: Number.POSITIVE_INFINITY,
    };
    this.lives.set(life.no, life);
    if (from.key === '') return;
    const key = `${policy.exec}/${from.key}`;
    const before = this.byKey.get(key);
    this.byKey.set(key, life);
    if (before === undefined || !this.isInWindow(before, life)) return;
    if (!['purged', 'dead', 'cancelled'].includes(before.fate))
      this.problems.push(
        `key ${key} led to job ${life.no}, and to job ${before.no}, which is ${before.fate}`,
      );
  }

  /** I11: a client never has more running than it may. */
  private assigned(life: Life): void {
    life.fate = 'running';
    const running = (this.running.get(life.client) ?? 0) + 1;
    this.running.set(life.client, running);
    if (running > this.rules.clientRunningMax)
      this.problems.push(
        `${life.client} has ${running} jobs running, ${this.rules.clientRunningMax} are allowed`,
      );
  }

  private ended(life: Life, fate: Fate, at: number): void {
    if (life.fate === 'running') this.running.set(life.client, (this.running.get(life.client) ?? 0) - 1);
    life.fate = fate;
    life.endedAt = at;
  }

  private requeued(life: Life, type: string): void {
    const { retry } = life.policy;
    if (type === 'worker_down_requeue') life.crashes += 1;
    else if (type !== 'release') life.failures += 1;
    if (life.failures >= retry.attempts || life.crashes >= retry.crashes)
      this.problems.push(
        `job ${life.no} waits again after ${life.failures} failures, ${life.crashes} crashes`,
      );
  }

  /** I7: the dead letters are for those that have spent their attempts, and for what is final. */
  private died(life: Life, reason: string): void {
    const { retry } = life.policy;
    const early =
      reason === 'quarantined'
        ? life.crashes + 1 < retry.crashes
        : reason !== 'final' && life.failures + 1 < retry.attempts;
    if (early)
      this.problems.push(
        `job ${life.no} is dead (${reason}) after ${life.failures + 1} of ${retry.attempts}`,
      );
  }

  /** One whose time among the dead letters was over by the record is not there to be treated. */
  private treated(life: Life | undefined, type: 'redrive' | 'purge', at: number): void {
    if (life?.fate !== 'dead' || life.endedAt + life.policy.keep.deadMs <= at) return;
    if (type === 'purge') {
      life.fate = 'purged';
      life.purgedAt = this.now();
      return;
    }
    life.fate = 'queued';
    life.failures = 0;
    life.crashes = 0;
    life.redriven = true;
  }
}
