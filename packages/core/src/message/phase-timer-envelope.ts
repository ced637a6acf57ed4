import type { Mailbox } from '../mailbox/mailbox.js';
import { Envelope } from './envelope.js';

/** A message of a timer that ends with a phase: once the phase has ended, its deadline has passed. */
export class PhaseTimerEnvelope extends Envelope {
  private readonly phase: { readonly hasEnded: boolean };

  constructor(
    target: Mailbox,
    handler: number,
    payload: unknown,
    phase: { readonly hasEnded: boolean },
    sentAt: number,
  ) {
    super(target, handler, payload, target, undefined, Number.POSITIVE_INFINITY, sentAt);
    this.phase = phase;
  }

  override get deadline(): number {
    return this.phase.hasEnded ? -1 : this.due;
  }
}
