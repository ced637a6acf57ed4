import type { Action, Identity } from '../access/identity.js';
import type { TransportLimits } from '../access/transport-limits.js';
import type { ReceivedFrame } from '../connection/received-frame.js';
import type { WireErrorName } from '../connection/wire-error.js';
import { FrameType } from '../frame/frame-type.js';
import { SubmitQuota } from './submit-quota.js';

/** Identities whose rate is remembered; the one that submitted longest ago is forgotten first. */
const RATES_MAX = 10_000;

/** Stands between the protocol and the application: how often an identity may submit, and about which subjects it may speak. */
export class FramePermission {
  private readonly limits: TransportLimits;
  private readonly actions: ReadonlyMap<number, Action>;
  private readonly quotas = new Map<string, SubmitQuota>();

  constructor(limits: TransportLimits, actions: ReadonlyMap<number, Action>) {
    this.limits = limits;
    this.actions = actions;
  }

  /** Null where every frame passes, so that the common case costs one comparison. */
  checkFor(
    identityOf: () => Identity | null,
  ): ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null {
    const limited = Number.isFinite(this.limits.submitsPerSecond);
    if (!limited && this.actions.size === 0) return null;
    return (frame, now) => {
      const identity = identityOf();
      if (identity === null) return null;
      if (limited && frame.type === FrameType.SubmitJob && !this.quotaOf(identity, now).take(now))
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
    const rate = new SubmitQuota(this.limits.submitsPerSecond, this.limits.submitsBurst, now);
    this.quotas.set(identity.name, rate);
    if (this.quotas.size > RATES_MAX) {
      for (const oldest of this.quotas.keys()) {
        this.quotas.delete(oldest);
        break;
      }
    }
    return rate;
  }
}
