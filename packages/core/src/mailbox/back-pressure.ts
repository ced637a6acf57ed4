import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { TimerNode } from '../timers/timer-wheel.js';
import type { Mailbox } from './mailbox.js';

/** Back-pressure as the send and the run queue see it. */
export interface SenderMuting<M extends Mailbox> {
  /** The running actor has sent to a mailbox that is over its capacity. */
  muteSender(receiver: M): void;
  /** After a turn of an overloaded mailbox. */
  releaseIfCaughtUp(receiver: M): void;
}

/** The number of looks at a receiver before it counts as stuck. */
const LOOKS = 4;

/** The actors and callbacks that wait for one overloaded mailbox to catch up. */
class OverloadedMailbox {
  readonly muted = new Set<number>();
  readonly retries: (() => void)[] = [];
  check: StuckCheck | undefined = undefined;
  /** Messages it had handled when it was found stuck. */
  handledWhenStuck = 0;
}

/** Looks at a receiver that mutes, a few times in `stuckAfterMs`: has it handled messages meanwhile? */
class StuckCheck extends TimerNode {
  looks = 0;
  handled: number;
  private readonly onLook: (check: StuckCheck) => void;

  constructor(handled: number, onLook: (check: StuckCheck) => void) {
    super();
    this.handled = handled;
    this.onLook = onLook;
  }

  override expire(): void {
    this.onLook(this);
  }
}

/**
 * Back-pressure between actors, by muting: an actor that has sent to an overloaded mailbox handles no message
 * until that mailbox has caught up, whatever the receiver is doing. Why it cannot deadlock: `WaitGraph`. A
 * receiver that handles nothing for `stuckAfterMs` waits for something that the runtime cannot see: it
 * releases the actors that it mutes.
 */
export class BackPressure implements SenderMuting<ActorCell> {
  private readonly runtime: Parts<'events' | 'executor' | 'log' | 'ready' | 'waitGraph' | 'wheel'>;
  private readonly stuckAfterMs: number;
  /** By the slot of the receiver. */
  private readonly overloaded = new Map<number, OverloadedMailbox>();
  /** By the slot of the muted sender: since when by which receiver's slot. */
  private readonly mutes = new Map<number, Map<number, number>>();

  constructor(runtime: BackPressure['runtime'], stuckAfterMs: number) {
    this.runtime = runtime;
    this.stuckAfterMs = stuckAfterMs;
  }

  muteSender(receiver: ActorCell): void {
    const { ready, waitGraph } = this.runtime;
    const sender = ready.slots.mailboxes[ready.running];
    if (sender === undefined || sender === receiver || receiver.type.overflow !== 'mute-sender') return;
    if (sender.isMuted && this.mutes.get(sender.slot)?.has(receiver.slot) === true) return;
    if (!receiver.isStuck && !waitGraph.leadsTo(receiver, sender)) this.mute(sender, receiver);
  }

  /** Calls back when there is room, or when there will never be any: the caller tries again. */
  waitForRoom(receiver: ActorCell, retry: () => void): void {
    receiver.markOverloaded();
    this.of(receiver).retries.push(retry);
  }

  releaseIfCaughtUp(receiver: ActorCell): void {
    if (receiver.queue.length <= receiver.type.lowWater || receiver.isClosed) this.release(receiver);
    else if (receiver.isStuck) this.recoverIfHandled(receiver);
  }

  release(receiver: ActorCell): void {
    receiver.clearOverloaded();
    receiver.clearStuck();
    const waiting = this.overloaded.get(receiver.slot);
    if (waiting === undefined) return;
    this.overloaded.delete(receiver.slot);
    if (waiting.check !== undefined) this.runtime.wheel.cancel(waiting.check);
    for (const slot of waiting.muted) this.unmute(slot, receiver);
    for (const retry of waiting.retries) retry();
  }

  /** A muted actor has ended. */
  senderEnded(sender: ActorCell): void {
    for (const slot of this.mutes.get(sender.slot)?.keys() ?? [])
      this.overloaded.get(slot)?.muted.delete(sender.slot);
    this.mutes.delete(sender.slot);
  }

  /** This mute must not last: the receiver waits for the sender. */
  endMute(sender: ActorCell, receiver: ActorCell): void {
    this.overloaded.get(receiver.slot)?.muted.delete(sender.slot);
    this.unmute(sender.slot, receiver);
  }

  get hasMuted(): boolean {
    return this.mutes.size > 0;
  }

  receiversMuting(sender: ActorCell): ActorCell[] {
    const { mailboxes } = this.runtime.ready.slots;
    return [...(this.mutes.get(sender.slot)?.keys() ?? [])].map((slot) => mailboxes[slot] as ActorCell);
  }

  /** Since when it is muted. */
  mutedSince(sender: ActorCell): number | undefined {
    const since = this.mutes.get(sender.slot)?.values() ?? [];
    return sender.isMuted ? Math.min(...since) : undefined;
  }

  private mute(sender: ActorCell, receiver: ActorCell): void {
    const { events, executor } = this.runtime;
    receiver.markOverloaded();
    sender.mute();
    const by = this.mutes.get(sender.slot) ?? new Map<number, number>();
    this.mutes.set(sender.slot, by.set(receiver.slot, executor.now()));
    const waiting = this.of(receiver);
    waiting.muted.add(sender.slot);
    waiting.check ??= this.watch(receiver);
    if (!events.hasListeners) return;
    events.publish({ kind: 'suspended', path: sender.path, reason: 'backpressure', receiver: receiver.path });
  }

  private unmute(slot: number, receiver: ActorCell): void {
    const { events, executor, ready } = this.runtime;
    const by = this.mutes.get(slot);
    const since = by?.get(receiver.slot);
    const sender = ready.slots.mailboxes[slot];
    if (by === undefined || since === undefined || sender === undefined) return;
    by.delete(receiver.slot);
    if (events.hasListeners) {
      const ms = executor.now() - since;
      const { path } = receiver;
      events.publish({ kind: 'resumed', path: sender.path, reason: 'backpressure', receiver: path, ms });
    }
    if (by.size > 0) return;
    this.mutes.delete(slot);
    sender.unmute();
    ready.registerReady(sender);
  }

  private of(receiver: ActorCell): OverloadedMailbox {
    const waiting = this.overloaded.get(receiver.slot) ?? new OverloadedMailbox();
    this.overloaded.set(receiver.slot, waiting);
    return waiting;
  }

  private watch({ slot }: ActorCell): StuckCheck {
    const { ready } = this.runtime;
    const check = new StuckCheck(ready.handledBy(slot), () => this.look(slot, check));
    this.armCheck(check);
    return check;
  }

  private armCheck(check: StuckCheck): void {
    this.runtime.wheel.arm(check, this.runtime.executor.now() + this.stuckAfterMs / LOOKS);
  }

  private look(slot: number, check: StuckCheck): void {
    const { executor, ready } = this.runtime;
    const waiting = this.overloaded.get(slot);
    // A wheel that is closed lets everything expire at once.
    if (waiting?.check !== check || executor.now() < check.due) return;
    const handled = ready.handledBy(slot);
    check.looks = handled === check.handled ? check.looks + 1 : 0;
    check.handled = handled;
    if (waiting.muted.size === 0) waiting.check = undefined;
    else if (check.looks < LOOKS) this.armCheck(check);
    else this.letGo(ready.slots.mailboxes[slot] as ActorCell, waiting, handled);
  }

  /** The receiver stays overloaded, so that the end of its next turn is looked at. */
  private letGo(receiver: ActorCell, waiting: OverloadedMailbox, handled: number): void {
    const { log, ready } = this.runtime;
    const senders = [...waiting.muted].map((slot) => ready.slots.mailboxes[slot] as ActorCell);
    log.reportStuck(receiver, senders, this.stuckAfterMs);
    receiver.markStuck();
    waiting.handledWhenStuck = handled;
    waiting.check = undefined;
    waiting.muted.clear();
    for (const sender of senders) this.unmute(sender.slot, receiver);
  }

  private recoverIfHandled(receiver: ActorCell): void {
    const handled = this.runtime.ready.handledBy(receiver.slot);
    if (handled !== this.of(receiver).handledWhenStuck) receiver.clearStuck();
  }
}
