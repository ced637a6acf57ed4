import type { TransportLimits } from '../access/limits.js';

const MIB = 1024 * 1024;

/** How far the frame now being received has come. */
export interface FrameProgress {
  readonly inside: boolean;
  readonly declaredBytes: number;
  readonly receivedBytes: number;
}

export type Verdict = 'alive' | 'ping' | 'AUTH_TIMEOUT' | 'SLOW_FRAME' | 'STALE' | 'SLOW_READER';

/**
 * Every deadline of a connection, as plain arithmetic on times handed in. Absolute: a byte now and then resets none but the
 * one for silence. Time in which we do not read on purpose counts against nobody.
 */
export class Liveness {
  readonly #limits: TransportLimits;
  #handshakeUntil: number;
  #pingMs = Number.POSITIVE_INFINITY;
  #deadMs = Number.POSITIVE_INFINITY;
  #heardAt: number;
  #spokeAt: number;
  #pingedAt = Number.NEGATIVE_INFINITY;
  #frameSince = Number.POSITIVE_INFINITY;
  #stalledSince = Number.POSITIVE_INFINITY;
  #pausedSince = Number.POSITIVE_INFINITY;

  constructor(limits: TransportLimits, now: number) {
    this.#limits = limits;
    this.#handshakeUntil = now + limits.handshakeMs;
    this.#heardAt = now;
    this.#spokeAt = now;
  }

  /** The handshake is done. A peer of the minimal dialect knows no Ping, so `heartbeat` is null for it. */
  ready(heartbeat: { readonly pingMs: number; readonly deadMs: number } | null): void {
    this.#handshakeUntil = Number.POSITIVE_INFINITY;
    if (heartbeat === null) return;
    this.#pingMs = heartbeat.pingMs;
    this.#deadMs = heartbeat.deadMs;
  }

  heard(now: number): void {
    this.#heardAt = now;
  }

  spoke(now: number): void {
    this.#spokeAt = now;
  }

  pinged(now: number): void {
    this.#pingedAt = now;
  }

  /** A frame has begun (its time runs from now), or none is open (`Infinity`). */
  frameSince(since: number): void {
    this.#frameSince = since;
  }

  get insideFrame(): boolean {
    return this.#frameSince !== Number.POSITIVE_INFINITY;
  }

  stalled(now: number): void {
    this.#stalledSince = now;
  }

  drained(): void {
    this.#stalledSince = Number.POSITIVE_INFINITY;
  }

  paused(now: number): void {
    if (this.#pausedSince === Number.POSITIVE_INFINITY) this.#pausedSince = now;
  }

  resumed(now: number): void {
    this.#pausedSince = Number.POSITIVE_INFINITY;
    this.#heardAt = now;
    if (this.insideFrame) this.#frameSince = now;
  }

  verdict(now: number, frame: FrameProgress): Verdict {
    if (now >= this.#handshakeUntil) return 'AUTH_TIMEOUT';
    if (now - this.#stalledSince >= this.#limits.writeMs) return 'SLOW_READER';
    const reading = this.#pausedSince === Number.POSITIVE_INFINITY;
    if (reading && this.#tooSlow(now, frame)) return 'SLOW_FRAME';
    if (reading && now - this.#heardAt >= this.#deadMs) return 'STALE';
    return this.#pingDueAt() <= now ? 'ping' : 'alive';
  }

  /** When `verdict` may next say something else than 'alive'. */
  nextAt(): number {
    const reading = this.#pausedSince === Number.POSITIVE_INFINITY;
    return Math.min(
      this.#handshakeUntil,
      this.#stalledSince + this.#limits.writeMs,
      reading ? this.#frameSince + this.#limits.frameMs : Number.POSITIVE_INFINITY,
      reading ? this.#heardAt + this.#deadMs : Number.POSITIVE_INFINITY,
      this.#pingDueAt(),
    );
  }

  // Silence on either side asks for a Ping: ours shows the peer that we live, theirs makes it show us.
  #pingDueAt(): number {
    const silentSince = Math.max(Math.min(this.#heardAt, this.#spokeAt), this.#pingedAt);
    return silentSince + this.#pingMs;
  }

  #tooSlow(now: number, frame: FrameProgress): boolean {
    const { frameMs, frameBytesPerSecondMin } = this.#limits;
    const elapsedMs = now - this.#frameSince;
    if (!frame.inside || elapsedMs < frameMs) return false;
    if (elapsedMs >= frameMs * Math.max(1, Math.ceil(frame.declaredBytes / MIB))) return true;
    return frame.receivedBytes < (frameBytesPerSecondMin * elapsedMs) / 1000;
  }
}
