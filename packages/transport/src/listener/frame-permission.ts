import type { Action, Identity } from '../access/identity.js';
import type { TransportLimits } from '../access/transport-limits.js';
import type { ReceivedFrame } from '../connection/received-frame.js';
import type { WireErrorName } from '../connection/wire-error.js';
import { FrameType } from '../frame/frame-type.js';
import { SubmitQuota } from './submit-quota.js';

/** Identities with a quota in memory; the oldest entry is dropped first. */
const QUOTAS_MAX = 10_000;

/** Checks frames before the application gets them: the submit quota and the rights of an identity. */
export class FramePermission {
  private readonly limits: TransportLimits;
  private readonly actions: ReadonlyMap<number, Action>;
  private readonly quotas = new Map<string, SubmitQuota>();

  constructor(limits: TransportLimits, actions: ReadonlyMap<number, Action>) {
    this.limits = limits;
    this.actions = actions;
  }

  /** Null where all frames pass, so that the common case costs one comparison. */
  checkFor(
    identityOf: () => Identity | null,
  ): ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null {
    const hasQuota = Number.isFinite(this.limits.submitsPerSecond);
    if (!hasQuota && this.actions.size === 0) return null;
    return (frame, now) => {
      const identity = identityOf();
      if (identity === null) return null;
      if (hasQuota && frame.type === FrameType.SubmitJob && !this.quotaOf(identity, now).take(now))
        return 'QUOTA';
      const action = this.actions.get(frame.type);
      if (action === undefined) return null;
      const { subject } = frame.header;
      if (subject === undefined) return 'BAD_SUBJECT';
      return identity.permits(action, subject) ? null : 'FORBIDDEN';
    };
  }

  private quotaOf(identity: Identity, now: number): SubmitQuota {
    const known = this.quotas.get(identity.name);
    if (known !== undefined) return known;
    const quota = new SubmitQuota(this.limits.submitsPerSecond, this.limits.submitsBurst, now);
    this.quotas.set(identity.name, quota);
    if (this.quotas.size > QUOTAS_MAX) {
      for (const oldest of this.quotas.keys()) {
        this.quotas.delete(oldest);
        break;
      }
    }
    return quota;
  }
}
