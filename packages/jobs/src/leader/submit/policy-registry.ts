import { type JobPolicy, policyText } from '../../job/job-policy.js';
import { StoredPolicy } from '../../ledger/job.js';
import type { PolicyDropRecord } from '../../ledger/record.js';
import type { LeaderContext } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/** Below this many nobody looks for policies that can go. */
const SWEPT_FROM = 256;

interface Entry {
  readonly policy: StoredPolicy;
  readonly text: string;
  /** Open sessions that may refer to it in a submit. */
  sessions: number;
}

/**
 * The policies that submits may refer to. One that no job and no open session refers to is dropped, by a record, once there are
 * many (ADR 0059).
 */
export class PolicyRegistry {
  private readonly context: LeaderContext;
  private readonly byNo = new Map<number, Entry>();
  private readonly byText = new Map<string, Entry>();
  private next: number;
  private sweptFrom = SWEPT_FROM;

  constructor(context: LeaderContext) {
    this.context = context;
    this.next = context.ledger.nextPolicy;
    for (const policy of context.ledger.policies.values()) this.add(policy);
  }

  get size(): number {
    return this.byNo.size;
  }

  /** A session announces a policy under a number of its own. False: there is no room for another policy. */
  define(session: ClientSession, ref: number, policy: JobPolicy): boolean {
    const entry = this.byText.get(policyText(policy)) ?? this.make(policy);
    if (entry === undefined) return false;
    entry.sessions += 1;
    this.letGo(session.refs.get(ref));
    session.refs.set(ref, entry.policy);
    return true;
  }

  /** The session is over and refers to nothing any more. */
  parted(session: ClientSession): void {
    for (const policy of session.refs.values()) this.letGo(policy);
    session.refs.clear();
  }

  /** Those a job came to refer to while the record was on its way are still there. */
  dropped(record: PolicyDropRecord): void {
    for (const no of record.policies) {
      const policy = this.context.ledger.policies.get(no);
      if (policy !== undefined) this.add(policy);
    }
  }

  private letGo(policy: StoredPolicy | undefined): void {
    const entry = policy === undefined ? undefined : this.byNo.get(policy.no);
    if (entry !== undefined) entry.sessions -= 1;
  }

  private make(announced: JobPolicy): Entry | undefined {
    const { limits } = this.context;
    if (this.size >= Math.min(this.sweptFrom, limits.policiesMax)) this.sweep();
    if (this.size >= limits.policiesMax) return undefined;
    const policy = new StoredPolicy(this.next, announced);
    this.next += 1;
    this.context.stage({ type: 'policy', at: this.context.at(), no: policy.no, policy: announced });
    return this.add(policy);
  }

  private add(policy: StoredPolicy): Entry {
    const entry = { policy, text: policyText(policy), sessions: 0 };
    this.byNo.set(policy.no, entry);
    if (!this.byText.has(entry.text)) this.byText.set(entry.text, entry);
    return entry;
  }

  private sweep(): void {
    const { ledger } = this.context;
    const policies: number[] = [];
    for (const [no, entry] of this.byNo) {
      // Not yet in the ledger: its own record is on the way.
      if (entry.sessions > 0 || ledger.policies.get(no)?.jobs !== 0) continue;
      policies.push(no);
      this.byNo.delete(no);
      if (this.byText.get(entry.text) === entry) this.byText.delete(entry.text);
    }
    this.sweptFrom = Math.max(SWEPT_FROM, 2 * this.size);
    if (policies.length > 0) this.context.stage({ type: 'policy_drop', at: this.context.at(), policies });
  }
}
