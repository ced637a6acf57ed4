import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { TurnTiming, TurnTimingObserver } from '../executor/turn-timing-observer.js';
import { handlerOf, NO_MESSAGE } from '../message/envelope.js';
import { QueueWaitProbe } from './queue-wait-probe.js';
import { recordSlowestMessage } from './record-slowest-message.js';

/** When the runtime warns. */
export interface WarnLimits {
  /** A turn that held the event loop for this long. Default 100. */
  readonly turnMs: number;
  /** A message that has waited in its mailbox for this long. Default 5,000. */
  readonly queueMs: number;
}

/** At most one warning of a kind per actor in this time. */
const QUIET_MS = 10_000;
const REMEMBERED_MAX = 1_000;
/** A shorter turn is not kept as an actor's slowest. */
const SLOW_MS = 1;

/**
 * Warns of long turns and long queues, by name. It works with the clock reads that the executor makes for
 * itself, so it costs nothing per message; the price is that among many quick turns it can only name the last
 * one. It then has the next turns timed one by one, so that a repeated long turn is named.
 */
export class SlowActorWarnings implements TurnTimingObserver<ActorCell> {
  private readonly runtime: Parts<'log' | 'events' | 'executor' | 'invoker' | 'ready'>;
  private readonly limits: WarnLimits;
  private warned = new Map<string, number>();
  private probe: QueueWaitProbe | undefined = undefined;

  constructor(runtime: SlowActorWarnings['runtime'], limits: WarnLimits) {
    this.runtime = runtime;
    this.limits = limits;
  }

  onClockRead({ mailbox, turns, handled, ms }: TurnTiming<ActorCell>): boolean {
    if (turns === 1 && ms >= SLOW_MS && handled === 1)
      recordSlowestMessage(mailbox, this.lastMessage(mailbox), ms);
    this.probeQueue(mailbox);
    if (ms < this.limits.turnMs || handled === 0) return false;
    this.warnOfTurn(mailbox, turns, handled, ms);
    return turns > 1;
  }

  /** Not for a mailbox that evicts, whose last message may never be handled, nor for one that may not run. */
  private probeQueue(mailbox: ActorCell): void {
    const now = this.runtime.executor.coarseNow;
    const { probe } = this;
    if (probe !== undefined) {
      const waitedMs = now - probe.since;
      if (probe.cell.isCurrent && waitedMs >= this.limits.queueMs) this.warnOfQueue(probe, waitedMs);
      else if (!probe.isOver) return;
    }
    const follow = mailbox.queue.length > 0 && mailbox.type.overflow !== 'drop-oldest';
    this.probe =
      follow && !mailbox.isGated ? new QueueWaitProbe(this.runtime.ready, mailbox, now) : undefined;
  }

  private warnOfTurn(cell: ActorCell, turns: number, handled: number, ms: number): void {
    const { path } = cell;
    if (!this.mayWarn(turns === 1 ? `turn ${path}` : 'turns')) return;
    const message = this.lastMessage(cell);
    const rounded = Math.round(ms);
    const name = message ?? 'unknown';
    const messages = handled === 1 ? 'a message' : `${handled} messages`;
    const text =
      turns === 1
        ? `${path}: ${messages} in one turn held the event loop for ${rounded} ms; last message ${name}`
        : `${turns} turns held the event loop for ${rounded} ms in all, the last of ${path} (message ${name}): a ` +
          'slow actor or a busy machine. The next turns are timed one by one: a slow actor will be named';
    this.runtime.log.write('warn', text, { path, message, turns, handled, ms });
    const { events } = this.runtime;
    if (events.hasListeners) events.publish({ kind: 'long-turn', path, message, turns, handled, ms });
  }

  private warnOfQueue({ cell, depth }: QueueWaitProbe, ms: number): void {
    const { path } = cell;
    if (!this.mayWarn(`queue ${path}`)) return;
    const message = this.nextMessage(cell) ?? this.lastMessage(cell);
    const wait = `a message behind ${depth - 1} others has waited ${Math.round(ms)} ms`;
    this.runtime.log.write('warn', `${path}: ${wait}; handling ${message ?? 'an ask'}`, {
      path,
      message,
      depth,
      ms,
    });
    const { events } = this.runtime;
    if (events.hasListeners) events.publish({ kind: 'queue-delay', path, message, depth, ms });
  }

  private nextMessage(cell: ActorCell): string | undefined {
    return cell.queue.length === 0 ? undefined : nameOf(cell, cell.queue.peek());
  }

  /** The last message of the turn, as far as the ready entry or the invoker knows it. */
  private lastMessage(cell: ActorCell): string | undefined {
    const { lastInlineHandler } = this.runtime.ready;
    return nameOf(
      cell,
      lastInlineHandler === NO_MESSAGE ? this.runtime.invoker.lastHandler : lastInlineHandler,
    );
  }

  private mayWarn(key: string): boolean {
    const now = this.runtime.executor.coarseNow;
    const last = this.warned.get(key);
    if (last !== undefined && now - last < QUIET_MS) return false;
    if (this.warned.size >= REMEMBERED_MAX) this.warned = new Map();
    this.warned.set(key, now);
    return true;
  }
}

function nameOf(cell: ActorCell, handler: number): string | undefined {
  return cell.type.definition['~handlerNames'][handlerOf(handler)];
}
