import { SeededRandom } from '@troupe/core/testing';
import {
  type ActorPlan,
  type Message,
  type OutsideAct,
  type Reply,
  routeesOf,
  type Step,
  type Via,
  type WaitHistory,
  type WaitKind,
} from './wait-history.js';

/** Below 64, the hard limit of a mailbox of capacity 1: no history may lose a message to that limit. */
const MESSAGES_MAX = 60;
/** Below half of `stuckAfterMs` even if all waits of a history come one after the other. */
const WAIT_MS_TOTAL = 12_000;
const WAIT_MS_MAX = 200;
const LEVELS_MAX = 4;
const GATES = 2;

const KINDS: readonly WaitKind[] = ['upward', 'acyclic', 'acyclic', 'any', 'any', 'outside'];

/** The history of a seed: the same one each time. */
export function generateHistory(seed: number): WaitHistory {
  return new HistoryGenerator(seed).history(seed);
}

class HistoryGenerator {
  private readonly random: SeededRandom;
  private readonly kind: WaitKind;
  private readonly actors: readonly ActorPlan[];
  private messagesLeft = MESSAGES_MAX;
  private waitMsLeft = WAIT_MS_TOTAL;
  /** Copies of the message being made: a burst of messages multiplies what they do. */
  private copies = 1;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.kind = this.pick(KINDS);
    const count = this.random.between(3, 7);
    this.actors = Array.from({ length: count }, (_, index) => this.actor(index, count));
  }

  history(seed: number): WaitHistory {
    const acts: OutsideAct[] = [];
    const wanted = this.random.between(1, 8);
    while (acts.length < wanted && this.messagesLeft > 0) acts.push(this.act());
    return { seed, kind: this.kind, actors: this.actors, acts };
  }

  /** Routers only where a wait cannot lead back to them: any of their routees may end it. */
  private actor(index: number, count: number): ActorPlan {
    const capacity = this.random.between(1, 4);
    const throughput = this.random.between(1, 5);
    const isPlain = this.kind === 'outside' || index === 0 || index > count - 3;
    const others = this.kind === 'any' ? (['pull-pool'] as const) : (['pull-pool', 'router'] as const);
    const kind = isPlain || this.random.chance(0.8) ? 'actor' : this.pick<ActorPlan['kind']>(others);
    return { kind, capacity, throughput };
  }

  private act(): OutsideAct {
    const at = this.random.chance(0.6) ? 0 : this.random.between(1, 300);
    const actor = this.random.below(this.actors.length);
    if (this.random.chance(0.88)) {
      const act = this.pick(['tell', 'tell', 'tell', 'ask', 'send'] as const);
      return { at, act, message: this.message(actor, 0) };
    }
    if (this.random.chance(0.5)) return { at, act: 'suspend', actor, ms: this.waitMs() };
    return { at, act: this.pick(['stop', 'drain', 'kill'] as const), actor };
  }

  private message(to: number, level: number): Message {
    this.messagesLeft -= this.copies;
    const steps: Step[] = [];
    const wanted = this.random.below(level === 0 ? 6 : 4);
    for (let i = 0; i < wanted; i += 1) steps.push(...this.step(to, level));
    return { to, steps, reply: this.reply(to, level) };
  }

  private step(from: number, level: number): Step[] {
    const chance = this.random.next();
    if (chance < 0.34) return this.tell(from, level);
    if (chance < 0.5) return this.askOrSend('ask', from, level);
    if (chance < 0.64) return this.askOrSend('send', from, level);
    if (chance < 0.76) return [{ does: 'await', ms: this.random.chance(0.4) ? 0 : this.waitMs() }];
    if (chance < 0.81) return this.stash();
    if (chance < 0.86) return [{ does: 'suspend', ms: this.waitMs() }];
    if (chance < 0.89) return this.awaitRoom(from);
    if (chance < 0.92) return this.timer(from, level);
    if (chance < 0.95) return this.gate();
    if (chance < 0.985)
      return [{ does: 'fail', directive: this.pick(['restart', 'resume', 'stop'] as const) }];
    return [{ does: 'stop' }];
  }

  private tell(from: number, level: number): Step[] {
    const to = this.kind === 'upward' ? this.above(from) : this.random.below(this.actors.length);
    const count = this.random.between(1, 8);
    if (to === undefined || level >= LEVELS_MAX || !this.hasRoomFor(count)) return [];
    const outer = this.copies;
    this.copies *= count;
    const message = this.message(to, level + 1);
    this.copies = outer;
    return [{ does: 'tell', via: this.via(), count, message }];
  }

  private askOrSend(does: 'ask' | 'send', from: number, level: number): Step[] {
    const to = this.awaitedTarget(from);
    if (to === undefined || level >= LEVELS_MAX || !this.hasRoomFor(1)) return [];
    const awaited = this.random.chance(0.75);
    const withinMs = this.random.chance(0.15) ? this.random.between(1, WAIT_MS_MAX) : undefined;
    return [{ does, via: this.via(), awaited, withinMs, message: this.message(to, level + 1) }];
  }

  private timer(from: number, level: number): Step[] {
    const to = this.above(from);
    if (to === undefined || level >= LEVELS_MAX || !this.hasRoomFor(1)) return [];
    return [{ does: 'timer', ms: this.waitMs(), message: this.message(to, level + 1) }];
  }

  /** A timer ends each stash by a message of its own. */
  private stash(): Step[] {
    if (!this.hasRoomFor(1)) return [];
    this.messagesLeft -= this.copies;
    return [{ does: 'stash', ms: this.waitMs() }];
  }

  private awaitRoom(from: number): Step[] {
    const of = this.above(from);
    return of === undefined || this.actors[of]?.kind !== 'actor' ? [] : [{ does: 'await-room', of }];
  }

  private gate(): Step[] {
    if (this.kind !== 'outside') return [];
    return [{ does: this.pick(['await-gate', 'open-gate'] as const), gate: this.random.below(GATES) }];
  }

  /** A reply that waits for another actor is a wait of its own, and cycles of those are not refused. */
  private reply(from: number, level: number): Reply {
    if (this.random.chance(0.75)) return { by: 'result' };
    const to = this.above(from);
    const isAcyclic = this.kind === 'upward' || this.kind === 'acyclic';
    if (!isAcyclic || to === undefined || level >= LEVELS_MAX || !this.hasRoomFor(1))
      return { by: 'timer', ms: this.waitMs() };
    return { by: 'ask', message: this.message(to, level + 1) };
  }

  private awaitedTarget(from: number): number | undefined {
    return this.kind === 'upward' || this.kind === 'acyclic'
      ? this.above(from)
      : this.random.below(this.actors.length);
  }

  private above(from: number): number | undefined {
    const isRouter = this.actors[from]?.kind === 'router';
    const first = 1 + (isRouter ? Math.max(...routeesOf(this.actors, from)) : from);
    return first < this.actors.length ? this.random.between(first, this.actors.length - 1) : undefined;
  }

  private hasRoomFor(count: number): boolean {
    return this.messagesLeft >= this.copies * count;
  }

  private waitMs(): number {
    const ms = this.random.between(1, WAIT_MS_MAX);
    if (ms * this.copies > this.waitMsLeft) return 1;
    this.waitMsLeft -= ms * this.copies;
    return ms;
  }

  private via(): Via {
    return this.random.chance(0.5) ? 'ref' : 'ctx';
  }

  private pick<T>(from: readonly T[]): T {
    return from[this.random.below(from.length)] as T;
  }
}
