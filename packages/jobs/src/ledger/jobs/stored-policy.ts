import {
  DEFAULT_PRIORITY,
  type JobPolicy,
  neededFeature,
  orderFields,
} from '../../job/definition/job-policy.js';
import type { JobFeature } from '../../protocol/job-protocol.js';

/** A policy with the number under which the records refer to it. */
export class StoredPolicy implements JobPolicy {
  readonly no: number;
  readonly exec: string;
  readonly group: string;
  readonly retry: JobPolicy['retry'];
  readonly leaseMs: number;
  readonly limits: JobPolicy['limits'];
  readonly keep: JobPolicy['keep'];
  readonly streaming: JobPolicy['streaming'];
  readonly stream: JobPolicy['stream'];
  readonly priority: number;
  readonly startWithinMs: JobPolicy['startWithinMs'];
  readonly requires: JobPolicy['requires'];
  readonly ordered: JobPolicy['ordered'];
  readonly sticky: JobPolicy['sticky'];
  /** The feature that workers of its jobs have named. */
  readonly feature: JobFeature | undefined;
  /**
   * Its exec, with all that sets its jobs apart from others of the exec: such jobs wait in another queue. No
   * exec has a blank in its name.
   */
  readonly variant: string;
  /** The number of jobs and schedules in the ledger that refer to it, ended jobs included. */
  jobs = 0;
  /** Its queued and its running jobs. */
  queued = 0;
  running = 0;

  constructor(no: number, policy: JobPolicy) {
    const { exec, group, retry, leaseMs, limits, keep, streaming, stream } = policy;
    const { priority = DEFAULT_PRIORITY, startWithinMs, requires, ordered, sticky } = policy;
    this.no = no;
    this.exec = exec;
    this.group = group;
    this.retry = retry;
    this.leaseMs = leaseMs;
    this.limits = limits;
    this.keep = keep;
    this.streaming = streaming;
    this.stream = stream;
    this.priority = priority;
    this.startWithinMs = startWithinMs;
    this.requires = requires;
    this.ordered = ordered;
    this.sticky = sticky;
    this.feature = neededFeature(policy);
    this.variant = [
      exec,
      ...(this.feature === undefined ? [] : [this.feature]),
      ...(priority === DEFAULT_PRIORITY ? [] : [priority]),
      ...(sticky === true ? ['sticky'] : []),
      ...(requires ?? []).map((label) => `+${label}`),
    ].join(' ');
  }

  toJSON(): JobPolicy {
    const { exec, group, retry, leaseMs, limits, keep, streaming, stream } = this;
    const policy = { exec, group, retry, leaseMs, limits, keep, ...orderFields(this) };
    return streaming === undefined ? policy : { ...policy, streaming, stream };
  }
}
