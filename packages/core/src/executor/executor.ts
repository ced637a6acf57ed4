import type { MessageInvoker } from '../invoker/message-invoker.js';
import type { Mailbox } from '../mailbox/mailbox.js';
import type { ReadyQueueCoordinator, Waker } from '../run-queue/ready-queue-coordinator.js';
import type { TurnTimingObserver } from './turn-timing-observer.js';

/** An executor as the options of a system name it. The test kit has one; the rest is for the runtime. */
export interface SystemExecutor {
  /** The time of the last clock read. */
  readonly coarseNow: number;
  /** The time now, at most one slice old. */
  now(): number;
  stop(): void;
}

/** Runs the ready actors: the pump in production, one chosen step at a time in tests. */
export interface Executor<M extends Mailbox> extends Waker, SystemExecutor {
  /** `observer` is notified of every clock read. */
  attach(
    ready: ReadyQueueCoordinator<M>,
    invoker: MessageInvoker<M>,
    onTurnEnd: () => void,
    observer?: TurnTimingObserver<M>,
  ): void;
  /** Registers a mailbox from the bottom of the stack, where no turn is under way: it may run at once. */
  resume(mailbox: M): void;
}

/** The part that executors share: what `attach` has given them. */
export abstract class AttachedExecutor<M extends Mailbox> {
  protected ready!: ReadyQueueCoordinator<M>;
  protected invoker!: MessageInvoker<M>;
  protected onTurnEnd!: () => void;
  protected observer: TurnTimingObserver<M> | undefined = undefined;

  attach(
    ready: ReadyQueueCoordinator<M>,
    invoker: MessageInvoker<M>,
    onTurnEnd: () => void,
    observer?: TurnTimingObserver<M>,
  ): void {
    this.ready = ready;
    this.invoker = invoker;
    this.onTurnEnd = onTurnEnd;
    this.observer = observer;
  }
}
