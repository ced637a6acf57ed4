import type { DeadLetterGroup } from '../../protocol/client/dead-letter-messages.js';
import type { LeaderJob } from '../leader-context.js';
import { fingerprintOf } from './error-fingerprint.js';

/** Jobs that a group names. */
const SAMPLES = 3;
/** Dead letters with more different failures are counted as one group, without a fingerprint. */
const GROUPS_MAX = 1_000;

type OpenGroup = { -readonly [Field in keyof DeadLetterGroup]: DeadLetterGroup[Field] } & { jobs: number[] };

/** Dead letters by the fingerprint of their failure. */
export class DeadLetterGroups {
  private readonly groups = new Map<string, OpenGroup>();

  add(job: LeaderJob): void {
    const { exec } = job.policy;
    const failure = job.end?.failure;
    const { id, message } = fingerprintOf(exec, failure);
    const known = this.groups.get(id);
    const isRest = known === undefined && this.groups.size >= GROUPS_MAX;
    const fields = { exec, name: failure?.name ?? '', code: failure?.code ?? '', message };
    const group = isRest
      ? this.open('', { exec: '', name: '', code: '', message: '' })
      : (known ?? this.open(id, fields));
    const at = job.end?.at ?? 0;
    group.count += 1;
    group.firstAt = Math.min(group.firstAt, at);
    group.lastAt = Math.max(group.lastAt, at);
    if (group.jobs.length < SAMPLES) group.jobs.push(job.no);
  }

  /** The largest first. */
  largest(max: number): DeadLetterGroup[] {
    return [...this.groups.values()].sort((a, b) => b.count - a.count || a.firstAt - b.firstAt).slice(0, max);
  }

  private open(
    fingerprint: string,
    fields: Pick<DeadLetterGroup, 'exec' | 'name' | 'code' | 'message'>,
  ): OpenGroup {
    const known = this.groups.get(fingerprint);
    if (known !== undefined) return known;
    const group = { fingerprint, ...fields, count: 0, firstAt: Number.MAX_SAFE_INTEGER, lastAt: 0, jobs: [] };
    this.groups.set(fingerprint, group);
    return group;
  }
}
