import type { MessageView, SendView, TurnView } from '../invoker/middleware.js';
import type { Envelope } from '../message/envelope.js';
import type { ActorCell } from './cell.js';

/** One message on its way through the hooks. Hooks see it as a MessageView; `context` is that of the hook at work. */
export class Passage implements MessageView {
  context: unknown = undefined;
  retries = 0;
  now = 0;
  withinMs = Number.POSITIVE_INFINITY;
  entered = 0;
  startedAt = 0;
  left = false;
  /** What the handler itself threw, to tell it from what a wrapper around it threw. */
  thrown: { readonly error: unknown } | undefined = undefined;
  readonly cell: ActorCell;
  readonly handler: number;
  readonly payload: unknown;
  readonly envelope: Envelope | undefined;

  constructor(
    cell: ActorCell,
    handler: number,
    payload: unknown,
    envelope: Envelope | undefined,
    now: number,
  ) {
    this.cell = cell;
    this.handler = handler;
    this.payload = payload;
    this.envelope = envelope;
    this.now = now;
  }

  get path(): string {
    return this.cell.path;
  }
  get actor(): string {
    return this.cell.kind.name;
  }
  get message(): string {
    return this.cell.kind.definition['~handlerNames'][this.handler] as string;
  }
  get from(): string | undefined {
    return (this.envelope?.sender as ActorCell | undefined)?.path;
  }
  get asked(): boolean {
    return this.envelope?.resolve !== undefined;
  }
  get remainingMs(): number {
    return this.envelope === undefined ? Number.POSITIVE_INFINITY : this.envelope.deadline - this.now;
  }
  get retryable(): boolean {
    return this.cell.kind.spec.retryable?.includes(this.message) ?? false;
  }
}

/** One message on its way into a mailbox. The clock is read only by those who ask. */
export class Sending implements SendView {
  cause: unknown = undefined;
  readonly payload: unknown;
  private readonly cell: ActorCell;
  private readonly handler: number;
  private readonly sender: ActorCell | undefined;

  constructor(cell: ActorCell, handler: number, payload: unknown, sender: ActorCell | undefined) {
    this.cell = cell;
    this.handler = handler;
    this.payload = payload;
    this.sender = sender;
  }

  get path(): string {
    return this.cell.path;
  }
  get actor(): string {
    return this.cell.kind.name;
  }
  get message(): string {
    return this.cell.kind.definition['~handlerNames'][this.handler] as string;
  }
  get from(): string | undefined {
    return this.sender?.path;
  }
  get now(): number {
    return this.cell.kind.runtime.host.now();
  }
}

/** One turn as hooks see it. */
export class Turn implements TurnView {
  endedAt: number;
  handled = 0;
  readonly depth: number;
  readonly startedAt: number;
  private readonly cell: ActorCell;

  constructor(cell: ActorCell, now: number) {
    this.cell = cell;
    this.depth = cell.queue.length;
    this.startedAt = now;
    this.endedAt = now;
  }

  get path(): string {
    return this.cell.path;
  }
  get actor(): string {
    return this.cell.kind.name;
  }
}
