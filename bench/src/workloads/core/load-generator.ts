import type { Ref, System } from '../../adapters/actor-system.js';
import type { Measurement } from '../../runner/suite.js';
import { Deferred } from '../deferred.js';

/** Tokens that circulate in a ring of actors without pause. */
export interface LoadShape {
  readonly members: number;
  readonly tokens: number;
}

/** The load is spread over a hundred actors. */
export const ringLoad: LoadShape = { members: 100, tokens: 50 };
/** One actor that always has messages from itself in its mailbox. */
export const oneActorLoad: LoadShape = { members: 1, tokens: 64 };

const messagesPerClockCheck = 4_096;

/** Saturates the event loop for a given time. */
export class LoadGenerator {
  private readonly system: System;
  private readonly shape: LoadShape;
  private readonly start: () => Ref[];
  private readonly token: (to: Ref, turn: number) => void;
  private refs: Ref[] = [];
  private until = 0;
  private sent = 0;
  private handled = 0;
  private endedTokens = 0;
  private ended = new Deferred();

  constructor(system: System, shape: LoadShape) {
    this.system = system;
    this.shape = shape;
    const { members } = shape;
    const token = system.tell<number>('token');
    const link = system.tell<Ref>('link');
    const generator = this;
    const Member = system.define({
      name: 'load',
      state: (): { next: Ref | undefined; turns: number } => ({ next: undefined, turns: 0 }),
      handlers: {
        link(ctx, next: Ref) {
          ctx.state.next = next;
        },
        token(ctx, turn: number) {
          ctx.state.turns += 1;
          if (ctx.state.next !== undefined && generator.continues()) token(ctx.state.next, turn + 1);
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

  /** The generator checks the clock itself: on a system that never yields, no timer could end it. */
  private continues(): boolean {
    this.handled += 1;
    if (this.handled % messagesPerClockCheck === 0 && performance.now() > this.until) this.until = 0;
    if (this.until !== 0) {
      this.sent += 1;
      return true;
    }
    this.endedTokens += 1;
    if (this.endedTokens === this.shape.tokens) this.ended.resolve();
    return false;
  }

  /** Saturates the event loop for `ms` and returns the numbers of sent and handled messages. */
  async run(ms: number): Promise<Measurement> {
    const { members, tokens } = this.shape;
    this.ended = new Deferred();
    this.sent = tokens;
    this.handled = 0;
    this.endedTokens = 0;
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
