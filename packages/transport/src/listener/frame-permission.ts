import type { Action, Identity } from '../access/identity.js';
import type { TransportLimits } from '../access/limits.js';
import type { WireErrorName } from '../connection/answer.js';
import type { ReceivedFrame } from '../connection/frame.js';
import { FrameType } from '../frame/frame-type.js';
import { Rate } from './rate.js';

/** Identities whose rate is remembered; the one that submitted longest ago is forgotten first. */
const RATES_MAX = 10_000;

/** Stands between the protocol and the application: how often an identity may submit, and about which subjects it may speak. */
export class Gatekeeper {
  readonly #limits: TransportLimits;
  readonly #actions: ReadonlyMap<number, Action>;
  readonly #rates = new Map<string, Rate>();

  constructor(limits: TransportLimits, actions: ReadonlyMap<number, Action>) {
    this.#limits = limits;
    this.#actions = actions;
  }

  /** Null where every frame passes, so that the common case costs one comparison. */
  gateFor(
    identityOf: () => Identity | null,
  ): ((frame: ReceivedFrame, now: number) => WireErrorName | null) | null {
    const limited = Number.isFinite(this.#limits.submitsPerSecond);
    if (!limited && this.#actions.size === 0) return null;
    return (frame, now) => {
      const identity = identityOf();
      if (identity === null) return null;
      if (limited && frame.type === FrameType.SubmitJob && !this.#rateOf(identity, now).take(now))
        return 'QUOTA';
      const action = this.#actions.get(frame.type);
      if (action === undefined) return null;
      const { subject } = frame.header;
      if (subject === undefined) return 'BAD_SUBJECT';
      return identity.permits(action, subject) ? null : 'FORBIDDEN';
    };
  }

  #rateOf(identity: Identity, now: number): Rate {
    const known = this.#rates.get(identity.name);
    if (known !== undefined) return known;
    const rate = new Rate(this.#limits.submitsPerSecond, this.#limits.submitsBurst, now);
    this.#rates.set(identity.name, rate);
    if (this.#rates.size > RATES_MAX) {
      for (const oldest of this.#rates.keys()) {
        this.#rates.delete(oldest);
        break;
      }
    }
    return rate;
  }
}
