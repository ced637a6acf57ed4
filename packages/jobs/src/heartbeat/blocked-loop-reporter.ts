import { type ActorSystem, createSystem, type Host } from '@troupe/core';
import type { HeartbeatHello, LoopBlocked, ToWorker } from '../protocol/worker/worker-messages.js';
import type { DialOptions } from '../remote/dial-options.js';
import { LeaderConnection } from '../remote/leader-connection.js';
import type { RoleCodec } from '../remote/leader-session.js';
import { encodeHeartbeatHello, encodeLoopBlocked, readToWorker } from '../wire/worker/worker-codec.js';

/** One worker of the main loop. It crosses to another thread, so it is data only. */
export interface WatchedWorker {
  readonly dial: Pick<DialOptions, 'address' | 'auth' | 'tls' | 'transportLimits'>;
  readonly hello: HeartbeatHello;
  readonly heartbeatMs: number;
}

const codec: RoleCodec<HeartbeatHello, LoopBlocked, ToWorker> = {
  role: 'worker',
  hello: encodeHeartbeatHello,
  message: encodeLoopBlocked,
  answer: readToWorker,
};

/**
 * After so many heartbeats without a tick the loop is reported: before the leader draws a conclusion from the
 * silence.
 */
const BLOCKED_HEARTBEATS = 1.5;
const CHECKS_PER_HEARTBEAT = 4;

/**
 * Watches the main loop from another thread through a counter which that loop raises. While the loop is
 * blocked, it has a connection of its own to the leader and reports the blocked time there once a heartbeat
 * (ADR 0404).
 */
export class BlockedLoopReporter {
  private readonly watched: WatchedWorker;
  private readonly ticks: Int32Array;
  private readonly host: Host;
  private lastTick: number;
  private tickedAt: number;
  private checkedAt: number;
  private readonly system: ActorSystem;
  private connection: LeaderConnection<HeartbeatHello, LoopBlocked, ToWorker> | undefined = undefined;
  private reportedAt = 0;
  /** Undefined while there is no session. */
  private write: ((blockedMs: number) => void) | undefined = undefined;
  private timer: { cancel(): void };

  constructor(watched: WatchedWorker, ticks: Int32Array, host: Host) {
    this.watched = watched;
    this.ticks = ticks;
    this.host = host;
    this.lastTick = Atomics.load(ticks, 0);
    this.tickedAt = host.now();
    this.checkedAt = this.tickedAt;
    this.system = createSystem({ name: 'heartbeat', host });
    this.timer = this.checkLater();
  }

  close(): void {
    this.timer.cancel();
    this.disconnect();
    void this.system.shutdown();
  }

  private get checkMs(): number {
    return this.watched.heartbeatMs / CHECKS_PER_HEARTBEAT;
  }

  private checkLater(): { cancel(): void } {
    return this.host.setTimer(this.checkMs, () => {
      this.check(this.host.now());
      this.timer = this.checkLater();
    });
  }

  private check(now: number): void {
    const { heartbeatMs } = this.watched;
    const tick = Atomics.load(this.ticks, 0);
    // Time in which this thread stood still as well says nothing about the other: the whole process was
    // stopped.
    const ownStallMs = Math.max(0, now - this.checkedAt - 2 * this.checkMs);
    this.checkedAt = now;
    this.tickedAt += ownStallMs;
    if (tick !== this.lastTick) {
      this.lastTick = tick;
      this.tickedAt = now;
      return this.disconnect();
    }
    const blockedMs = now - this.tickedAt;
    if (blockedMs < BLOCKED_HEARTBEATS * heartbeatMs) return;
    if (this.connection === undefined) this.connection = this.connect();
    else if (now - this.reportedAt >= heartbeatMs) this.report(blockedMs);
  }

  private report(blockedMs: number): void {
    if (this.write === undefined) return;
    this.reportedAt = this.host.now();
    this.write(blockedMs);
  }

  private connect(): LeaderConnection<HeartbeatHello, LoopBlocked, ToWorker> {
    const { dial, hello } = this.watched;
    const connection = new LeaderConnection(this.system, dial, hello.worker, codec, {
      onUp: () => {
        // No answer is needed here: a refused connection is cut, and dialled again while there is a reason
        // to.
        const port = { ref: undefined as never, offer: () => 'accepted' as const };
        connection.open(hello, port);
        this.write = (blockedMs) => connection.write({ blockedMs }, port);
        this.report(this.host.now() - this.tickedAt);
      },
      onDown: () => {
        this.write = undefined;
      },
    });
    return connection;
  }

  private disconnect(): void {
    if (this.connection === undefined) return;
    this.report(0);
    this.connection.close();
    this.connection = undefined;
    this.write = undefined;
  }
}
