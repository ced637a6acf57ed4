import { WIRE_ERRORS, type WireErrorName } from '../connection/wire-error.js';
import type { BodyBudget, BodyReservation, BodyShare } from './body-budget.js';
import type { IncomingBody } from './incoming-body.js';

export interface GatheredBody {
  /** The part of it that was read and consumed before. */
  readonly received?: Buffer | undefined;
  /** The whole body. From here on its memory is counted by the application. */
  onWhole(bytes: Buffer): void;
  /** 'PAYLOAD_TOO_LARGE' or 'BUSY'; its sender has been stopped. */
  onRefused(errorName: WireErrorName): void;
  /** Its sender aborted it, or the connection was closed. */
  onFail(): void;
}

/** Puts bodies in pieces together, within the memory that a connection and its identity may have for that. */
export class BodyGatherer {
  private readonly budget: BodyBudget;
  private readonly share: BodyShare;
  private readonly windowBytes: number;

  constructor(budget: BodyBudget, share: BodyShare, windowBytes: number) {
    this.budget = budget;
    this.share = share;
    this.windowBytes = windowBytes;
  }

  gather(incoming: IncomingBody, bytesMax: number, body: GatheredBody): void {
    const reserved = incoming.length ?? bytesMax;
    if (reserved > bytesMax) return refuse(incoming, body, 'PAYLOAD_TOO_LARGE');
    let isGranted = false as boolean;
    const { received } = body;
    let at = received?.length ?? 0;
    let unconsumed = 0;
    let whole: Buffer = Buffer.allocUnsafeSlow(Math.min(reserved, Math.max(at, this.windowBytes)));
    received?.copy(whole);
    const reservation = this.budget.reserve(this.share, reserved, this.windowBytes, () => {
      isGranted = true;
      if (unconsumed > 0) incoming.consumed(unconsumed);
    });
    if (reservation === undefined) return refuse(incoming, body, 'BUSY');
    incoming.read({
      onChunk: (chunk) => {
        const end = at + chunk.length;
        if (end > reserved) return stop(incoming, reservation, body);
        if (end > whole.length) whole = grown(whole, at, Math.min(reserved, Math.max(end, 2 * whole.length)));
        chunk.copy(whole, at);
        at = end;
        if (isGranted) incoming.consumed(chunk.length);
        else unconsumed += chunk.length;
      },
      onEnd: () => {
        reservation.release();
        body.onWhole(whole.subarray(0, at));
      },
      onFail: () => {
        reservation.release();
        body.onFail();
      },
    });
  }
}

function refuse(incoming: IncomingBody, body: GatheredBody, errorName: WireErrorName): void {
  incoming.stop(WIRE_ERRORS[errorName].code);
  body.onRefused(errorName);
}

/** More bytes than its type may have; its length was not declared. */
function stop(incoming: IncomingBody, reservation: BodyReservation, body: GatheredBody): void {
  body.onRefused('PAYLOAD_TOO_LARGE');
  reservation.release();
  incoming.stop(WIRE_ERRORS.PAYLOAD_TOO_LARGE.code);
}

function grown(whole: Buffer, used: number, bytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(bytes);
  whole.copy(larger, 0, 0, used);
  return larger;
}
