import type { TransportLimits } from '../access/transport-limits.js';

const MIB = 1024 * 1024;

/** The progress of the frame that is being received. */
export interface FrameProgress {
  readonly inside: boolean;
  readonly declaredBytes: number;
  readonly receivedBytes: number;
}

export type LivenessVerdict = 'alive' | 'ping' | 'AUTH_TIMEOUT' | 'SLOW_FRAME' | 'STALE' | 'SLOW_READER';

/**
 * All deadlines of a connection, as arithmetic on given times. They are absolute: single bytes reset only the
 * deadline for silence. Time during which reading is paused does not count.
 */
export class Liveness {
  private readonly limits: TransportLimits;
  private handshakeDueAt: number;
  private pingMs = Number.POSITIVE_INFINITY;
  private deadMs = Number.POSITIVE_INFINITY;
  private receivedAt: number;
  private wroteAt: number;
  private pingedAt = Number.NEGATIVE_INFINITY;
  private frameStartedAt = Number.POSITIVE_INFINITY;
  private socketFullSince = Number.POSITIVE_INFINITY;
  private pausedSince = Number.POSITIVE_INFINITY;

  constructor(limits: TransportLimits, now: number) {
    this.limits = limits;
    this.handshakeDueAt = now + limits.handshakeMs;
    this.receivedAt = now;
    this.wroteAt = now;
  }

  /** The handshake is done. `heartbeat` is null for the minimal dialect, which has no Ping. */
  ready(heartbeat: { readonly pingMs: number; readonly deadMs: number } | null): void {
    this.handshakeDueAt = Number.POSITIVE_INFINITY;
    if (heartbeat === null) return;
    this.pingMs = heartbeat.pingMs;
    this.deadMs = heartbeat.deadMs;
  }

  bytesReceived(now: number): void {
    this.receivedAt = now;
  }

  bytesWritten(now: number): void {
    this.wroteAt = now;
  }

  pingWritten(now: number): void {
    this.pingedAt = now;
  }

  frameStarted(now: number): void {
    this.frameStartedAt = now;
  }

  frameEnded(): void {
    this.frameStartedAt = Number.POSITIVE_INFINITY;
  }

  get insideFrame(): boolean {
    return this.frameStartedAt !== Number.POSITIVE_INFINITY;
  }

  socketFull(now: number): void {
    this.socketFullSince = now;
  }

  socketWritable(): void {
    this.socketFullSince = Number.POSITIVE_INFINITY;
  }

  readingPaused(now: number): void {
    if (this.pausedSince === Number.POSITIVE_INFINITY) this.pausedSince = now;
  }

  readingResumed(now: number): void {
    this.pausedSince = Number.POSITIVE_INFINITY;
    this.receivedAt = now;
    if (this.insideFrame) this.frameStartedAt = now;
  }

  check(now: number, frame: FrameProgress): LivenessVerdict {
    if (now >= this.handshakeDueAt) return 'AUTH_TIMEOUT';
    if (now - this.socketFullSince >= this.limits.writeMs) return 'SLOW_READER';
    const reading = this.pausedSince === Number.POSITIVE_INFINITY;
    if (reading && this.tooSlow(now, frame)) return 'SLOW_FRAME';
    if (reading && now - this.receivedAt >= this.deadMs) return 'STALE';
    return this.pingDueAt() <= now ? 'ping' : 'alive';
  }

  /** The earliest time at which `check` may return something else than 'alive'. */
  nextDeadline(): number {
    const reading = this.pausedSince === Number.POSITIVE_INFINITY;
    return Math.min(
      this.handshakeDueAt,
      this.socketFullSince + this.limits.writeMs,
      reading ? this.frameStartedAt + this.limits.frameMs : Number.POSITIVE_INFINITY,
      reading ? this.receivedAt + this.deadMs : Number.POSITIVE_INFINITY,
      this.pingDueAt(),
    );
  }

  // Silence in either direction needs a Ping: it shows that this side is alive, its Pong that the peer is.
  private pingDueAt(): number {
    const silentSince = Math.max(Math.min(this.receivedAt, this.wroteAt), this.pingedAt);
    return silentSince + this.pingMs;
  }

  private tooSlow(now: number, frame: FrameProgress): boolean {
    const { frameMs, frameBytesPerSecondMin } = this.limits;
    const elapsedMs = now - this.frameStartedAt;
    if (!frame.inside || elapsedMs < frameMs) return false;
    if (elapsedMs >= frameMs * Math.max(1, Math.ceil(frame.declaredBytes / MIB))) return true;
    return frame.receivedBytes < (frameBytesPerSecondMin * elapsedMs) / 1000;
  }
}
