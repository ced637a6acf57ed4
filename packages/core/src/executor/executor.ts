import type { MessageInvoker } from '../invoker/message-invoker.js';
import type { Mailbox } from '../mailbox/mailbox.js';
import type { ReadyQueueCoordinator, Waker } from '../run-queue/ready-queue-coordinator.js';
import type { TurnObserver } from './turn-observer.js';

/** Whoever runs the ready actors: the pump in production, one chosen step at a time in tests. */
export interface Executor<M extends Mailbox> extends Waker {
  /** The time of the last look at the clock. */
  readonly coarseNow: number;
  /** The time now, at most one slice old. */
  now(): number;
  /** `watch` is told whenever the executor looks at the clock. */
  attach(
    ready: ReadyQueueCoordinator<M>,
    invoker: MessageInvoker<M>,
    onTurnEnd: () => void,
    watch?: TurnObserver<M>,
  ): void;
  /** Registers a mailbox from the bottom of the stack, where nobody's turn is under way: it may run at once. */
  resume(mailbox: M): void;
  stop(): void;
}
