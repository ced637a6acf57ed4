import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { UndeliveredError } from '../errors/error-classes.js';
import type { CellRef } from './cell-ref.js';
import { WaitingSend } from './waiting-send.js';

/** The sends that wait for room in one mailbox, in their order. */
class SendQueue {
  first: WaitingSend | undefined = undefined;
  private last: WaitingSend | undefined = undefined;

  add(send: WaitingSend): void {
    if (this.last === undefined) this.first = send;
    else this.last.next = send;
    this.last = send;
  }

  leave(send: WaitingSend): void {
    send.hasLeft = true;
    while (this.first?.hasLeft === true) this.first = this.first.next;
    if (this.first === undefined) this.last = undefined;
  }

  wakeAll(): void {
    for (let send = this.first; send !== undefined; send = send.next) send.wake();
  }
}

type Answer = 'accepted' | 'full' | Error;

/**
 * Sends that wait for room. Sends to the same actor wait in one queue, and a later send joins its end even
 * when there is room again: none overtakes another. All are woken together, and each continues in its own
 * asynchronous context.
 */
export class WaitingSends {
  private readonly runtime: Parts<
    'backPressure' | 'delivery' | 'executor' | 'ready' | 'waitCycles' | 'waitGraph'
  >;
  private readonly queues = new Map<CellRef, SendQueue>();

  constructor(runtime: WaitingSends['runtime']) {
    this.runtime = runtime;
  }

  /**
   * `ref.send`: resolves when the mailbox has taken the message, rejects when it never will, or when the
   * signal fires. The sender is the actor whose handler is running, if one is.
   */
  send(
    ref: CellRef,
    handler: number,
    payload: unknown,
    signal?: AbortSignal,
    sender: ActorCell | undefined = this.runtime.delivery.sender,
  ): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const queue = this.queues.get(ref);
    const answer = queue === undefined ? this.offer(ref.cell, handler, payload) : 'full';
    if (answer === 'accepted') return Promise.resolve();
    if (answer !== 'full') return Promise.reject(answer);
    return this.wait(ref, queue ?? this.openQueue(ref), handler, payload, signal, sender);
  }

  private async wait(
    ref: CellRef,
    queue: SendQueue,
    handler: number,
    payload: unknown,
    signal: AbortSignal | undefined,
    sender: ActorCell | undefined,
  ): Promise<void> {
    const { executor, waitCycles, waitGraph } = this.runtime;
    const waiting = new WaitingSend(ref, executor.now());
    const wake = (): void => waiting.wake();
    queue.add(waiting);
    if (sender !== undefined) {
      waitCycles.sendBegins(waiting, sender);
      waitGraph.begin(sender, waiting);
    }
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        await new Promise<void>((woken) => {
          waiting.wake = woken;
        });
        signal?.throwIfAborted();
        if (waiting.failure !== undefined) throw waiting.failure;
        if (queue.first !== waiting) continue;
        const answer = this.offer(ref.cell, handler, payload);
        if (answer === 'accepted') return;
        if (answer !== 'full') throw answer;
        this.awaitRoom(ref, queue);
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      this.leave(ref, queue, waiting);
    }
  }

  private openQueue(ref: CellRef): SendQueue {
    const queue = new SendQueue();
    this.queues.set(ref, queue);
    this.awaitRoom(ref, queue);
    return queue;
  }

  private awaitRoom(ref: CellRef, queue: SendQueue): void {
    this.runtime.backPressure.waitForRoom(ref.cell, () => queue.wakeAll());
  }

  /** The next send may have joined after the others were woken. */
  private leave(ref: CellRef, queue: SendQueue, waiting: WaitingSend): void {
    queue.leave(waiting);
    if (queue.first !== undefined) queue.first.wake();
    else if (this.queues.get(ref) === queue) this.queues.delete(ref);
  }

  private offer(cell: ActorCell, handler: number, payload: unknown): Answer {
    const { delivery, ready } = this.runtime;
    const answer = delivery.offer(cell, handler, payload);
    if (answer === 'accepted') return answer;
    if (answer === 'full' && ready.queued < ready.queuedMax) return answer;
    const message = cell.type.definition['~handlerNames'][handler] as string;
    return new UndeliveredError(cell.path, message, answer === 'closed' ? 'stopped' : 'overloaded');
  }
}
