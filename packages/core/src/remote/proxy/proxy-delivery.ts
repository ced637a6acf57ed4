// Hot path: no allocation per message.

import type { ActorCell } from '../../actor/actor-cell.js';
import { type Envelope, handlerOf, isEnveloped } from '../../message/envelope.js';
import { MonitoredDelivery } from '../notes/monitored-delivery.js';
import type { Route } from './route.js';

/**
 * Delivery to proxies. A message to an idle one is written to the other thread at once: nothing is in its
 * mailbox that it could overtake. Everything else takes its turn there, so that a proxy that waits for room
 * fills, and mutes its senders.
 */
export class ProxyDelivery extends MonitoredDelivery {
  /** The send that was noted last. */
  private notedTo: ActorCell | undefined = undefined;
  private notedHandler = 0;
  private notedBy = 0;

  override wakeWith(cell: ActorCell, handler: number, payload: unknown): void {
    if (!isEnveloped(handler)) {
      this.note(cell, handler);
      (cell.state as Route).writeMessage(cell, handler, payload);
    } else if (isAskFromOutside(payload as Envelope)) {
      this.note(cell, handler);
      (cell.state as Route).writeAsk(cell, payload as Envelope);
    } else super.wakeWith(cell, handler, payload);
  }

  /** No ready entry and no queue has the send of such a message. A repeated one is noted once. */
  private note(cell: ActorCell, handler: number): void {
    const { running, sequence } = this.ready;
    if (cell === this.notedTo && handler === this.notedHandler && running === this.notedBy) return;
    this.notedTo = cell;
    this.notedHandler = handler;
    this.notedBy = running;
    this.recorder?.note(running, cell.slot, handlerOf(handler), sequence);
  }
}

/** An asking actor is known to wait for the reply only when its handler has returned. */
function isAskFromOutside({ sender, resolve, deadline }: Envelope): boolean {
  return sender === undefined && resolve !== undefined && deadline >= 0;
}
