import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { Cancellation } from '../message/cancellation.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import { type Envelope, enveloped, handlerOf, isEnveloped } from '../message/envelope.js';
import type { DeadLetterOffice } from './delivery.js';

/** Reasons of messages that were in a mailbox: the actor that runs now did not send them. */
const WAITED: readonly DeadLetterReason[] = ['left-over', 'evicted', 'expired', 'cancelled'];

/** Takes every message that reaches no handler: counts it, and publishes it to listeners. */
export class DeadLetterPublisher implements DeadLetterOffice<ActorCell> {
  total = 0;
  private readonly runtime: Parts<'asks' | 'delivery' | 'events' | 'deadLetterHooks' | 'log'>;

  constructor(runtime: DeadLetterPublisher['runtime']) {
    this.runtime = runtime;
  }

  /** A router is not an actor: it has only a name. */
  unrouted(to: string, message: string, payload: unknown): void {
    this.total += 1;
    const { events, delivery } = this.runtime;
    if (!events.hasListeners) return;
    const from = delivery.sender?.path;
    events.publish({ kind: 'dead-letter', letter: { reason: 'unrouted', to, message, payload, from } });
  }

  /** Came from another thread, for an actor that has ended and left no name here. */
  unaddressed(to: string, message: string, payload: unknown): void {
    this.total += 1;
    const { events } = this.runtime;
    const letter = { reason: 'stopped', to, message, payload, from: undefined } as const;
    if (events.hasListeners) events.publish({ kind: 'dead-letter', letter });
  }

  /** The asker has given up, by its deadline or by a signal. */
  notBegun(cell: ActorCell, envelope: Envelope): void {
    const reason = Cancellation.in(envelope)?.isCancelled === true ? 'cancelled' : 'expired';
    this.undelivered(cell, enveloped(envelope.handler), envelope, reason);
  }

  undelivered(cell: ActorCell, slot: number, content: unknown, reason: DeadLetterReason, why?: string): void {
    const envelope = isEnveloped(slot) ? (content as Envelope) : undefined;
    this.total += 1;
    const { events, asks, delivery } = this.runtime;
    if (events.hasListeners) {
      const waited = WAITED.includes(reason);
      const from = (envelope?.sender as ActorCell | undefined) ?? (waited ? undefined : delivery.sender);
      const letter = {
        reason,
        to: cell.path,
        message: cell.type.definition['~handlerNames'][handlerOf(slot)] as string,
        payload: envelope === undefined ? content : envelope.payload,
        from: from?.path,
      };
      events.publish({ kind: 'dead-letter', letter });
    }
    if (reason === 'overloaded' && cell.queue.length >= cell.type.hardCapacity) this.warnOfHardLimit(cell);
    if (envelope === undefined) return;
    if (envelope.context !== undefined) this.runtime.deadLetterHooks.run(cell, envelope, reason);
    asks.undelivered(envelope, why ?? reason);
  }

  /** The first such letter of a mailbox only. */
  private warnOfHardLimit(cell: ActorCell): void {
    const cold = cell.ensureCold();
    if (cold.isHardLimitReported) return;
    cold.isHardLimitReported = true;
    const { path } = cell;
    const { hardCapacity } = cell.type;
    this.runtime.log.write(
      'warn',
      `${path}: its mailbox holds ${hardCapacity} messages, 64 times its capacity: messages from outside actors, ` +
        'from timers and after an await become dead letters; use `send`, which waits for room',
      { path, depth: cell.queue.length, hardCapacity },
    );
  }
}
