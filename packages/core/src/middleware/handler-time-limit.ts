import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { HandlerTimeoutError } from '../errors/error-classes.js';
import { toError } from '../errors/thrown-value.js';
import type { UnsettledHandler } from '../invoker/unsettled-handler.js';
import { Cancellation, cancelAll } from '../message/cancellation.js';
import type { Envelope } from '../message/envelope.js';
import { TimerNode } from '../timers/timer-wheel.js';

/**
 * The time limit of an asynchronous handler. At the limit its signal is aborted and it has failed: as soon as
 * it settles, or, when it ignores the signal, after one turn of the event loop. A handler that ignored it
 * runs on, so nothing else may run on its state (ADR 0114).
 */
export class HandlerTimeLimit extends TimerNode {
  /** The handler was given up while it was running. */
  isCutOff = false;
  private readonly runtime: Parts<'host' | 'ready' | 'wheel'>;
  private readonly cell: ActorCell;
  private readonly withinMs: number;
  private awaiting: UnsettledHandler | undefined = undefined;
  private what = '';
  private envelope: Envelope | undefined = undefined;
  private isOver = false;

  constructor(runtime: HandlerTimeLimit['runtime'], cell: ActorCell, withinMs: number) {
    super();
    this.runtime = runtime;
    this.cell = cell;
    this.withinMs = withinMs;
  }

  begin(awaiting: UnsettledHandler): void {
    const { host, wheel } = this.runtime;
    this.awaiting = awaiting;
    this.what = awaiting.what;
    this.envelope = awaiting.envelope;
    wheel.arm(this, host.now() + this.withinMs);
  }

  end(): void {
    const { cold } = this.cell;
    this.runtime.wheel.cancel(this);
    this.awaiting = undefined;
    // The next message gets a signal of its own; a handler that was given up keeps the old one.
    if (this.isOver && !this.isCutOff) cold?.handlerSignals?.renew(this.asked);
  }

  /**
   * The failure of a handler past its time; its own rejection is at most the cause. Undefined for one in
   * time.
   */
  failureOf(
    rejection: { readonly thrown: unknown } | undefined,
  ): { readonly thrown: HandlerTimeoutError } | undefined {
    if (!this.isOver) return undefined;
    const cause = rejection === undefined ? undefined : toError(rejection.thrown);
    return { thrown: new HandlerTimeoutError(this.cell.path, this.what, this.withinMs, cause) };
  }

  override expire(): void {
    const { cell, awaiting } = this;
    if (awaiting === undefined || awaiting.settled) return;
    this.isOver = true;
    const reason = new HandlerTimeoutError(cell.path, this.what, this.withinMs);
    cell.cold?.handlerSignals?.abort(this.asked, reason);
    cancelAll(cell.cold?.waits?.cancellable(awaiting) ?? [], reason);
    this.runtime.host.later(() => this.cutOff());
  }

  private get asked(): Cancellation | undefined {
    return this.envelope === undefined ? undefined : Cancellation.in(this.envelope);
  }

  private cutOff(): void {
    const { cell, awaiting } = this;
    if (awaiting === undefined || awaiting.settled) return;
    this.isCutOff = true;
    awaiting.settled = true;
    cell.markSettled();
    this.runtime.ready.registerReady(cell);
  }
}
