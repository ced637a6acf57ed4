import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import type { Mailbox } from './mailbox.js';
import { CLOSED, GATED, MUTED, OVERLOADED, TERMINATED } from './status-word.js';

/** Actors and callbacks that wait for an overloaded mailbox to catch up. */
interface Waiters {
  readonly muted: number[];
  readonly retries: (() => void)[];
}

/**
 * Back-pressure between actors, by muting. An actor that sends to an overloaded mailbox is not run again
 * until that mailbox has caught up. It cannot deadlock: an overloaded actor is never muted, and it stays
 * overloaded until it has released all actors that it muted, so the last edge that would close a cycle of
 * mutes cannot be drawn. A mailbox that cannot make progress by itself (awaiting, suspended, failed) mutes no
 * sender.
 */
export class BackPressure<M extends Mailbox = Mailbox> {
  private readonly waiting = new Map<number, Waiters>();
  private coordinator: ReadyQueueCoordinator<M> | undefined = undefined;

  attach(coordinator: ReadyQueueCoordinator<M>): void {
    this.coordinator = coordinator;
  }

  /** The running actor has sent to a mailbox that is over its capacity. */
  muteSender(receiver: M): void {
    const ready = this.coordinator as ReadyQueueCoordinator<M>;
    const sender = ready.slots.mailboxes[ready.running];
    if (sender === undefined || (sender.status & (MUTED | OVERLOADED)) !== 0) return;
    if (sender === receiver || receiver.isGated || receiver.type.overflow !== 'mute-sender') return;
    receiver.markOverloaded();
    sender.mute();
    this.of(receiver).muted.push(sender.slot);
  }

  /** Calls back when there is room, or when there will never be any: the caller tries again. */
  waitForRoom(receiver: M, retry: () => void): void {
    receiver.markOverloaded();
    this.of(receiver).retries.push(retry);
  }

  releaseIfCaughtUp(receiver: M): void {
    if (receiver.queue.length <= receiver.type.lowWater || (receiver.status & (GATED | CLOSED)) !== 0) {
      this.release(receiver);
    }
  }

  release(receiver: M): void {
    receiver.clearOverloaded();
    const waiting = this.waiting.get(receiver.slot);
    if (waiting === undefined) return;
    this.waiting.delete(receiver.slot);
    for (const slot of waiting.muted) this.unmute(slot);
    for (const retry of waiting.retries) retry();
  }

  private unmute(slot: number): void {
    const sender = this.coordinator?.slots.mailboxes[slot];
    if (sender === undefined || (sender.status & (MUTED | TERMINATED)) !== MUTED) return;
    sender.unmute();
    this.coordinator?.registerReady(sender);
  }

  private of(receiver: M): Waiters {
    let waiting = this.waiting.get(receiver.slot);
    if (waiting === undefined) {
      waiting = { muted: [], retries: [] };
      this.waiting.set(receiver.slot, waiting);
    }
    return waiting;
  }
}
