import type { Host } from '@troupe/core';
import type { PulseBeat, PulseHello, ToWorker } from '../protocol/worker-messages.js';
import type { DialOptions } from '../remote/dial-options.js';
import { LeaderLink, type LinkCodec } from '../remote/leader-connection.js';
import { encodePulse, encodePulseHello, readToWorker } from '../wire/worker-codec.js';

/** What the main loop tells its pulse about one worker; it crosses to another thread, so it is data only. */
export interface PulseOrder {
  readonly dial: Pick<DialOptions, 'address' | 'auth' | 'tls' | 'transportLimits'>;
  readonly hello: PulseHello;
  readonly beatMs: number;
}

const codec: LinkCodec<PulseHello, PulseBeat, ToWorker> = {
  role: 'worker',
  hello: encodePulseHello,
  message: encodePulse,
  answer: (type, from) => readToWorker(type, from),
};

/** How long the loop must stand before the leader hears of it, in beats: before the leader thinks anything of the silence. */
const STANDING_BEATS = 1.5;
const LOOKS_PER_BEAT = 4;

type Voice = LeaderLink<PulseHello, PulseBeat, ToWorker>;

/**
 * Watches the main loop from another thread, through a counter which that loop raises. While it stands, there is a connection on which
 * one beat after the other says so (ADR 0057).
 */
export class PulseWatch {
  private readonly order: PulseOrder;
  private readonly ticks: Int32Array;
  private readonly host: Host;
  private seen: number;
  private seenAt: number;
  private lookedAt: number;
  private voice: Voice | undefined = undefined;
  private saidAt = 0;
  private say: ((blockedMs: number) => void) | undefined = undefined;
  private timer: { cancel(): void };

  constructor(order: PulseOrder, ticks: Int32Array, host: Host) {
    this.order = order;
    this.ticks = ticks;
    this.host = host;
    this.seen = Atomics.load(ticks, 0);
    this.seenAt = host.now();
    this.lookedAt = this.seenAt;
    this.timer = this.lookLater();
  }

  close(): void {
    this.timer.cancel();
    this.hangUp();
  }

  private get lookMs(): number {
    return this.order.beatMs / LOOKS_PER_BEAT;
  }

  private lookLater(): { cancel(): void } {
    return this.host.setTimer(this.lookMs, () => {
      this.look(this.host.now());
      this.timer = this.lookLater();
    });
  }

  private look(now: number): void {
    const { beatMs } = this.order;
    const ticks = Atomics.load(this.ticks, 0);
    // Time in which this thread stood as well says nothing about the other: the whole process was stopped.
    const ownStallMs = Math.max(0, now - this.lookedAt - 2 * this.lookMs);
    this.lookedAt = now;
    this.seenAt += ownStallMs;
    if (ticks !== this.seen) {
      this.seen = ticks;
      this.seenAt = now;
      return this.hangUp();
    }
    const blockedMs = now - this.seenAt;
    if (blockedMs < STANDING_BEATS * beatMs) return;
    if (this.voice === undefined) this.voice = this.dial();
    else if (now - this.saidAt >= beatMs) this.speak(blockedMs);
  }

  private speak(blockedMs: number): void {
    if (this.say === undefined) return;
    this.saidAt = this.host.now();
    this.say(blockedMs);
  }

  private dial(): Voice {
    const { dial, hello } = this.order;
    const voice: Voice = new LeaderLink(dial, hello.worker, codec, {
      onUp: () => {
        // Nobody answers here: whoever is refused is cut off, and dials again while there is a reason to.
        const port = { ref: undefined as never, send: () => undefined };
        voice.open(hello, port);
        this.say = (blockedMs) => voice.send({ blockedMs }, port);
        this.speak(this.host.now() - this.seenAt);
      },
      onDown: () => {
        this.say = undefined;
      },
    });
    return voice;
  }

  private hangUp(): void {
    if (this.voice === undefined) return;
    this.speak(0);
    this.voice.close();
    this.voice = undefined;
    this.say = undefined;
  }
}
