import { type JobPolicy, policyText } from '../../job/definition/job-policy.js';
import { StoredPolicy } from '../../ledger/jobs/stored-policy.js';
import type { PolicyDropRecord } from '../../ledger/ledger-record.js';
import type { LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/** With fewer policies than this, unused ones are not looked for. */
const SWEEP_FROM = 256;

interface Entry {
  readonly policy: StoredPolicy;
  readonly text: string;
  /** The identity that announced it first since the leader started, where there are keys. */
  identity: string | undefined;
  /** Open sessions that may refer to it in a submit. */
  sessions: number;
}

/**
 * The policies that submits may refer to. Once there are many, those that no job and no open session refers
 * to are dropped by a record (ADR 0402).
 */
export class PolicyRegistry {
  private readonly context: LeaderParts<'ledger' | 'limits' | 'recordTime' | 'stage'>;
  private readonly byNo = new Map<number, Entry>();
  private readonly byText = new Map<string, Entry>();
  private readonly counts = new Map<string, number>();
  private next: number;
  private sweepFrom = SWEEP_FROM;

  constructor(context: PolicyRegistry['context']) {
    this.context = context;
    this.next = context.ledger.nextPolicy;
    for (const policy of context.ledger.policies.values()) this.add(policy);
  }

  get size(): number {
    return this.byNo.size;
  }

  /** A session announces a policy under a number of its own. False: there is no room for another policy. */
  define(session: ClientSession, ref: number, policy: JobPolicy): boolean {
    const entry = this.byText.get(policyText(policy)) ?? this.store(policy, session.identity);
    if (entry === undefined) return false;
    entry.sessions += 1;
    this.release(session.policies.get(ref));
    session.policies.set(ref, entry.policy);
    return true;
  }

  /** For a schedule, which counts as a job of its policy. Undefined: there is no room for another. */
  intern(policy: JobPolicy, identity: string | undefined): StoredPolicy | undefined {
    return (this.byText.get(policyText(policy)) ?? this.store(policy, identity))?.policy;
  }

  sessionClosed(session: ClientSession): void {
    for (const policy of session.policies.values()) this.release(policy);
    session.policies.clear();
  }

  /** The record is applied. Policies that a job came to refer to before that are still in the ledger. */
  dropped(record: PolicyDropRecord): void {
    for (const no of record.policies) {
      const policy = this.context.ledger.policies.get(no);
      if (policy !== undefined) this.add(policy);
    }
  }

  private release(policy: StoredPolicy | undefined): void {
    const entry = policy === undefined ? undefined : this.byNo.get(policy.no);
    if (entry !== undefined) entry.sessions -= 1;
  }

  private store(policy: JobPolicy, identity: string | undefined): Entry | undefined {
    const { limits, recordTime } = this.context;
    const isAtQuota = (): boolean =>
      identity !== undefined && (this.counts.get(identity) ?? 0) >= limits.policiesPerIdentityMax;
    if (this.size >= Math.min(this.sweepFrom, limits.policiesMax) || isAtQuota()) this.sweep();
    if (this.size >= limits.policiesMax || isAtQuota()) return undefined;
    const no = this.next;
    this.next += 1;
    this.context.stage({ type: 'policy', at: recordTime, no, policy });
    if (identity !== undefined) this.counts.set(identity, (this.counts.get(identity) ?? 0) + 1);
    return this.add(new StoredPolicy(no, policy), identity);
  }

  private add(policy: StoredPolicy, identity?: string): Entry {
    const entry: Entry = { policy, text: policyText(policy), identity, sessions: 0 };
    this.byNo.set(policy.no, entry);
    if (!this.byText.has(entry.text)) this.byText.set(entry.text, entry);
    return entry;
  }

  private sweep(): void {
    const { ledger, recordTime } = this.context;
    const policies: number[] = [];
    for (const [no, entry] of this.byNo) {
      // A policy that is not in the ledger yet is new: its own record is on its way.
      if (entry.sessions > 0 || ledger.policies.get(no)?.jobs !== 0) continue;
      policies.push(no);
      this.byNo.delete(no);
      if (entry.identity !== undefined)
        this.counts.set(entry.identity, (this.counts.get(entry.identity) ?? 1) - 1);
      if (this.byText.get(entry.text) === entry) this.byText.delete(entry.text);
    }
    this.sweepFrom = Math.max(SWEEP_FROM, 2 * this.size);
    if (policies.length > 0) this.context.stage({ type: 'policy_drop', at: recordTime, policies });
  }
}
