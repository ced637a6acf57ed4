/** The part of a budget that the bodies of one connection have. */
export class BodyShare {
  readonly bytesMax: number;
  usedBytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }
}

/** Bytes of a budget that one body has, or waits for. */
export interface BodyReservation {
  /** Gives the bytes back, or stops waiting for them. Further calls do nothing. */
  release(): void;
}

interface Claim {
  readonly share: BodyShare;
  readonly bytes: number;
  readonly windowBytes: number;
  readonly onGranted: () => void;
  state: 'waiting' | 'granted' | 'released';
}

/**
 * Memory for bodies that are put together, of all connections of one identity. A body gets all its bytes at
 * once or waits for them, so that two halves never wait for each other; one that is larger than the budget is
 * alone in it. A waiting body may have sent a window: these windows together are bounded by the same number,
 * and a body beyond that is refused.
 */
export class BodyBudget {
  readonly bytesMax: number;
  private readonly waiting: Claim[] = [];
  private used = 0;
  private windows = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get usedBytes(): number {
    return this.used;
  }

  /** Bytes that waiting bodies may have sent. */
  get waitingBytes(): number {
    return this.windows;
  }

  /** Undefined: too many bodies wait already. `onGranted` may be called before this returns. */
  reserve(
    share: BodyShare,
    bytes: number,
    windowBytes: number,
    onGranted: () => void,
  ): BodyReservation | undefined {
    const window = Math.min(bytes, windowBytes);
    const claim: Claim = { share, bytes, windowBytes: window, onGranted, state: 'waiting' };
    if (this.waiting.length === 0 && this.hasRoom(bytes) && fitsShare(claim)) this.grant(claim);
    else if (this.windows + window > this.bytesMax) return undefined;
    else {
      this.waiting.push(claim);
      this.windows += window;
    }
    return { release: () => this.release(claim) };
  }

  private hasRoom(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.bytesMax;
  }

  private grant(claim: Claim): void {
    claim.state = 'granted';
    this.used += claim.bytes;
    claim.share.usedBytes += claim.bytes;
    claim.onGranted();
  }

  private release(claim: Claim): void {
    const { state } = claim;
    claim.state = 'released';
    if (state === 'released') return;
    if (state === 'waiting') this.leaveQueue(claim);
    else {
      this.used -= claim.bytes;
      claim.share.usedBytes -= claim.bytes;
    }
    this.grantWaiting();
  }

  private leaveQueue(claim: Claim): void {
    this.waiting.splice(this.waiting.indexOf(claim), 1);
    this.windows -= claim.windowBytes;
  }

  /** In their order, except that a connection at its own bound holds up no other. */
  private grantWaiting(): void {
    let next = this.waiting.find(fitsShare);
    while (next !== undefined && this.hasRoom(next.bytes)) {
      this.leaveQueue(next);
      this.grant(next);
      next = this.waiting.find(fitsShare);
    }
  }
}

function fitsShare({ share, bytes }: Claim): boolean {
  return share.usedBytes === 0 || share.usedBytes + bytes <= share.bytesMax;
}
