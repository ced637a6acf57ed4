import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { UndeliveredError } from '../errors/error-classes.js';
import { Cancellation } from '../message/cancellation.js';
import { cancelOnAbort } from '../ref/abort-listeners.js';
import type { AskOptions } from '../ref/actor-ref.js';
import type { CallTerms } from '../ref/call-options.js';
import type { CellRef } from '../ref/cell-ref.js';
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
    'asks' | 'backPressure' | 'delivery' | 'executor' | 'ready' | 'waitCycles' | 'waitGraph' | 'wheel'
  >;
  private readonly queues = new Map<CellRef, SendQueue>();

  constructor(runtime: WaitingSends['runtime']) {
    this.runtime = runtime;
  }

  /**
   * `ref.send`: resolves when the mailbox has taken the message, rejects when it never will. Attributed to
   * the actor whose handler is running, if one is.
   */
  send(ref: CellRef, handler: number, payload: unknown): Promise<void> {
    return this.begin({ sender: this.runtime.delivery.sender, options: undefined }, ref, handler, payload);
  }

  /** `ctx.send` and `ref.with(…).send`: rejects also at the deadline, and when the signal fires. */
  sendAs(terms: CallTerms, ref: CellRef, handler: number, payload: unknown): Promise<void> {
    const refusal = this.runtime.asks.refusalOf('send', terms.sender, terms.options);
    if (refusal !== undefined) return Promise.reject(refusal.reason);
    return this.begin(terms, ref, handler, payload);
  }

  private begin(terms: CallTerms, ref: CellRef, handler: number, payload: unknown): Promise<void> {
    const queue = this.queues.get(ref);
    const answer = queue === undefined ? this.offerAs(terms.sender, ref.cell, handler, payload) : 'full';
    if (answer === 'accepted') return Promise.resolve();
    if (answer !== 'full') return Promise.reject(answer);
    return this.wait(terms, ref, queue ?? this.openQueue(ref), handler, payload);
  }

  private async wait(
    { sender, options }: CallTerms,
    ref: CellRef,
    queue: SendQueue,
    handler: number,
    payload: unknown,
  ): Promise<void> {
    const { asks, executor, waitCycles, waitGraph } = this.runtime;
    const cause = sender === undefined ? undefined : asks.messageOf(sender);
    const waiting = new WaitingSend(ref, messageOf(ref.cell, handler), executor.now(), cause);
    queue.add(waiting);
    this.limit(waiting, options);
    if (sender !== undefined) {
      waitCycles.sendBegins(waiting, sender);
      waitGraph.begin(sender, waiting);
    }
    try {
      for (;;) {
        await new Promise<void>((woken) => {
          waiting.wake = woken;
          if (waiting.failure !== undefined) woken();
        });
        if (waiting.failure !== undefined) throw waiting.failure.reason;
        if (queue.first !== waiting) continue;
        const answer = this.offerAs(sender, ref.cell, handler, payload);
        if (answer === 'accepted') return;
        if (answer !== 'full') throw answer;
        this.awaitRoom(ref, queue);
      }
    } finally {
      this.runtime.wheel.cancel(waiting);
      waiting.leaveGroups();
      this.leave(ref, queue, waiting);
    }
  }

  /** Its deadline and its signals: its own, and those of the ask in whose handler it was sent. */
  private limit(waiting: WaitingSend, options: AskOptions | undefined): void {
    const { cause } = waiting;
    const own = options?.withinMs === undefined ? Number.POSITIVE_INFINITY : waiting.since + options.withinMs;
    const deadline = Math.min(own, Math.max(cause?.deadline ?? own, waiting.since));
    if (deadline !== Number.POSITIVE_INFINITY) this.runtime.wheel.arm(waiting, deadline);
    if (options?.signal !== undefined) waiting.joined(cancelOnAbort(options.signal, waiting));
    const asked = cause === undefined ? undefined : Cancellation.in(cause);
    if (asked?.isCancelled === true) waiting.fail(asked.aborted?.reason);
    else if (asked?.isOver === false) {
      asked.add(waiting);
      waiting.joined(asked);
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

  /** A sender that has ended while it waited is no sender any more. */
  private offerAs(sender: ActorCell | undefined, cell: ActorCell, handler: number, payload: unknown): Answer {
    const { asks, delivery, ready } = this.runtime;
    const answer = sender?.isCurrent
      ? asks.offerAs(sender, cell, handler, payload)
      : delivery.offer(cell, handler, payload);
    if (answer === 'accepted') return answer;
    if (answer === 'full' && ready.queued < ready.queuedMax) return answer;
    const reason = answer === 'closed' ? 'stopped' : 'overloaded';
    return new UndeliveredError(cell.path, messageOf(cell, handler), reason);
  }
}

function messageOf(cell: ActorCell, handler: number): string {
  return cell.type.definition['~handlerNames'][handler] as string;
}
