import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { UndeliveredError } from '../errors.js';
import type { CellRef } from './cell-ref.js';

/** One send that waits for room. */
class WaitingSend {
  next: WaitingSend | undefined = undefined;
  hasLeft = false;
  wake: () => void = () => undefined;
}

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
  private readonly runtime: Parts<'delivery' | 'ready'>;
  private readonly queues = new Map<CellRef, SendQueue>();

  constructor(runtime: WaitingSends['runtime']) {
    this.runtime = runtime;
  }

  /**
   * `ref.send`: resolves when the mailbox has taken the message, rejects when it never will, or when the
   * signal fires.
   */
  send(ref: CellRef, handler: number, payload: unknown, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const queue = this.queues.get(ref);
    const answer = queue === undefined ? this.offer(ref.cell, handler, payload) : 'full';
    if (answer === 'accepted') return Promise.resolve();
    if (answer !== 'full') return Promise.reject(answer);
    return this.wait(ref, queue ?? this.openQueue(ref), handler, payload, signal);
  }

  private async wait(
    ref: CellRef,
    queue: SendQueue,
    handler: number,
    payload: unknown,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const waiting = new WaitingSend();
    const wake = (): void => waiting.wake();
    queue.add(waiting);
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        await new Promise<void>((woken) => {
          waiting.wake = woken;
        });
        signal?.throwIfAborted();
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
    this.runtime.ready.backPressure.waitForRoom(ref.cell, () => queue.wakeAll());
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
