import { HandlerTimeoutError } from '../errors.js';
import { SETTLED } from '../mailbox/status.js';
import { TimerNode } from '../timer-wheel.js';
import type { Awaiting } from './awaiting.js';
import type { ActorCell } from './cell.js';

/** Ends an asynchronous handler that takes too long: its signal is aborted, then it has failed. */
class HandlerLimit extends TimerNode {
  private readonly cell: ActorCell;
  private readonly withinMs: number;
  private readonly awaiting: Awaiting;

  constructor(cell: ActorCell, withinMs: number, awaiting: Awaiting) {
    super();
    this.cell = cell;
    this.withinMs = withinMs;
    this.awaiting = awaiting;
  }

  override expire(): void {
    const { cell, awaiting } = this;
    if (awaiting.settled || cell.extras?.awaiting !== awaiting) return;
    awaiting.settled = true;
    awaiting.error = { thrown: new HandlerTimeoutError(cell.path, awaiting.what, this.withinMs) };
    cell.extras.abort?.abort();
    cell.extras.abort = undefined;
    cell.status |= SETTLED;
    cell.kind.runtime.ready.registerReady(cell);
  }
}

export function armLimit(cell: ActorCell, withinMs: number, awaiting: Awaiting): TimerNode {
  const { host, wheel } = cell.kind.runtime;
  const limit = new HandlerLimit(cell, withinMs, awaiting);
  wheel.arm(limit, host.now() + withinMs);
  return limit;
}
