import type { SeededRandom } from '@troupe/core/testing';
import type { ClientMessage } from '#src/protocol/client/client-messages.js';
import type { RunnerOffer, WorkerHello, WorkerMessage } from '#src/protocol/worker/worker-messages.js';

/** Numbers at which counters, offsets and windows may give way. */
const NUMBERS = [0, 1, 2, 3, 255, 65_536, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER];
const ATTEMPTS = [0, 1, 1, 1, 2, 3];

/** Messages of streams, feeds, warm runners and progress, well-formed, with numbers that no peer of ours has. */
export class HostileMessages {
  private readonly random: SeededRandom;
  /** Jobs of the exec that only hostile workers serve. */
  private readonly jobs: readonly number[];

  constructor(random: SeededRandom, jobs: readonly number[]) {
    this.random = random;
    this.jobs = jobs;
  }

  ofClient(): ClientMessage {
    const job = this.job();
    const reader = this.random.below(4);
    switch (this.random.below(6)) {
      case 0:
        return { kind: 'read_stream', reader, job, ...this.position(), window: this.number() };
      case 1:
        return { kind: 'stream_consumed', items: [{ reader, ...this.position() }] };
      case 2:
        return { kind: 'stop_stream', reader };
      case 3:
        return { kind: 'open_feed', feed: reader, job };
      case 4:
        return {
          kind: 'feed',
          feed: reader,
          job,
          first: this.number(),
          items: this.texts(),
          final: this.random.below(8) === 0,
        };
      default:
        return { kind: 'close_feed', feed: reader };
    }
  }

  ofWorker(): WorkerMessage {
    const job = this.job();
    const attempt = this.attempt();
    switch (this.random.below(4)) {
      case 0:
        return { kind: 'chunks', items: [{ job, attempt, first: this.number(), chunks: this.texts() }] };
      case 1:
        return {
          kind: 'feed_requests',
          items: [{ job, attempt, received: this.number(), taken: this.number() }],
        };
      case 2:
        return this.report({ outcome: 'released', job, attempt, chunks: this.number() });
      default:
        return this.report();
    }
  }

  hello(hello: WorkerHello): WorkerHello {
    const held = this.jobs.slice(0, 4).map((job) => ({ job, attempt: this.attempt() }));
    const streams = held.map((one) => ({ ...one, first: this.number(), next: this.number() }));
    return { ...hello, held, streams, runners: [this.runner(hello.execs)] };
  }

  private report(
    ...ends: readonly { outcome: 'released'; job: number; attempt: number; chunks: number }[]
  ): WorkerMessage {
    const { random } = this;
    const progress = [
      {
        job: this.job(),
        attempt: this.attempt(),
        share: random.below(3) - 0.5,
        note: 'x'.repeat(random.below(2_000)),
        waitsForRunner: random.below(2) === 0 ? 'evil' : '',
        lines: this.texts(),
        dropped: this.number(),
      },
    ];
    const credit = { jobs: random.below(8), bytes: 1_000_000 };
    const runners = [this.runner([])];
    return { kind: 'report', ends, credit, cpu: 0, lagMs: 0, progress, runners };
  }

  private runner(execs: readonly string[]): RunnerOffer {
    return {
      runner: 'evil',
      size: this.number(),
      granted: this.number(),
      loading: this.number(),
      idle: this.number(),
      held: this.number(),
      waiting: this.number(),
      loads: this.number(),
      loadFailures: this.number(),
      recycled: this.number(),
      runs: this.number(),
      execs,
    };
  }

  private position(): { readonly attempt: number; readonly offset: number } {
    return { attempt: this.attempt(), offset: this.number() };
  }

  private job(): number {
    return this.jobs[this.random.below(this.jobs.length)] ?? this.number();
  }

  private attempt(): number {
    return ATTEMPTS[this.random.below(ATTEMPTS.length)] as number;
  }

  private number(): number {
    return NUMBERS[this.random.below(NUMBERS.length)] as number;
  }

  private texts(): string[] {
    return Array.from({ length: this.random.below(20) }, () => `"${'x'.repeat(this.random.below(3_000))}"`);
  }
}
