// Hot path: no allocation per message.

import type { ActorCell } from '../../actor/actor-cell.js';
import type { FlightRecorder } from '../../inspect/flight-recorder.js';
import { type DeadLetterOffice, Delivery, type SendHook } from '../../mailbox/delivery.js';
import type { ReadyQueueCoordinator } from '../../run-queue/ready-queue-coordinator.js';
import type { ThreadMonitor } from './thread-monitor.js';

/** Delivery on a thread that others watch: each message that is put into a mailbox is counted. */
export class MonitoredDelivery extends Delivery<ActorCell> {
  private readonly monitor: ThreadMonitor;

  constructor(
    ready: ReadyQueueCoordinator<ActorCell>,
    office: DeadLetterOffice<ActorCell>,
    sendHook: SendHook<ActorCell>,
    recorder: FlightRecorder | undefined,
    monitor: ThreadMonitor,
  ) {
    super(ready, office, sendHook, recorder);
    this.monitor = monitor;
  }

  override wakeWith(cell: ActorCell, handler: number, payload: unknown): void {
    this.monitor.accepted();
    super.wakeWith(cell, handler, payload);
  }

  override post(cell: ActorCell, handler: number, payload: unknown): void {
    this.monitor.accepted();
    super.post(cell, handler, payload);
  }
}
