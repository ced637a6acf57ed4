import type { JobPolicy } from '../../job/job-policy.js';

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
  /** The number of jobs in the ledger that refer to it, ended ones included. */
  jobs = 0;

  constructor(no: number, policy: JobPolicy) {
    const { exec, group, retry, leaseMs, limits, keep, streaming, stream } = policy;
    this.no = no;
    this.exec = exec;
    this.group = group;
    this.retry = retry;
    this.leaseMs = leaseMs;
    this.limits = limits;
    this.keep = keep;
    this.streaming = streaming;
    this.stream = stream;
  }

  toJSON(): JobPolicy {
    const { exec, group, retry, leaseMs, limits, keep, streaming, stream } = this;
    const policy = { exec, group, retry, leaseMs, limits, keep };
    return streaming === undefined ? policy : { ...policy, streaming, stream };
  }
}
