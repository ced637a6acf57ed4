import type { Ref, System } from '../../adapters/actor-system.js';
import type { Measurement } from '../../runner/suite.js';
import { Deferred } from '../deferred.js';

/** Tokens that go round a ring of actors and never rest. */
export interface HogShape {
  readonly members: number;
  readonly tokens: number;
}

/** A hundred actors share the blame. */
export const ringShape: HogShape = { members: 100, tokens: 50 };
/** One actor that always has mail from itself. */
export const loneShape: HogShape = { members: 1, tokens: 64 };

const checkEvery = 4_096;

/** Keeps the loop full for as long as it runs. */
export class Hog {
  private readonly system: System;
  private readonly shape: HogShape;
  private readonly start: () => Ref[];
  private readonly token: (to: Ref, turn: number) => void;
  private refs: Ref[] = [];
  private until = 0;
  private sent = 0;
  private handled = 0;
  private retired = 0;
  private ended = new Deferred();

  constructor(system: System, shape: HogShape) {
    this.system = system;
    this.shape = shape;
    const { members } = shape;
    const token = system.tell<number>('token');
    const link = system.tell<Ref>('link');
    const hog = this;
    const Member = system.define({
      name: 'hog',
      state: (): { next: Ref | undefined; turns: number } => ({ next: undefined, turns: 0 }),
      handlers: {
        link(ctx, next: Ref) {
          ctx.state.next = next;
        },
        token(ctx, turn: number) {
          ctx.state.turns += 1;
          if (ctx.state.next !== undefined && hog.goesOn()) token(ctx.state.next, turn + 1);
        },
      },
    });
    this.token = token;
    this.start = () => {
      const refs = Array.from({ length: members }, () => system.spawn(Member));
      refs.forEach((ref, index) => {
        link(ref, refs[(index + 1) % members] ?? ref);
      });
      return refs;
    };
  }

  /** Ends by its own clock, because on a system that never yields nobody else can end it. */
  private goesOn(): boolean {
    this.handled += 1;
    if (this.handled % checkEvery === 0 && performance.now() > this.until) this.until = 0;
    if (this.until !== 0) {
      this.sent += 1;
      return true;
    }
    this.retired += 1;
    if (this.retired === this.shape.tokens) this.ended.resolve();
    return false;
  }

  /** Saturates the loop for `ms` and says how many messages were sent and handled, and in which time. */
  async run(ms: number): Promise<Measurement> {
    const { members, tokens } = this.shape;
    this.ended = new Deferred();
    this.sent = tokens;
    this.handled = 0;
    this.retired = 0;
    const started = performance.now();
    this.until = started + ms;
    this.refs = this.start();
    for (let count = 0; count < tokens; count += 1) {
      const ref = this.refs[(count * 2) % members];
      if (ref !== undefined) this.token(ref, 0);
    }
    await this.ended.promise;
    const seconds = (performance.now() - started) / 1_000;
    for (const ref of this.refs) this.system.stop(ref);
    return { attempted: this.sent, completed: this.handled, seconds };
  }
}
