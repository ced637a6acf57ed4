import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { UndeliveredError } from '../errors.js';
import type { RefBase } from './ref-base.js';

/** Of one who waits for room. */
class Place {
  next: Place | undefined = undefined;
  hasLeft = false;
  wake: () => void = () => undefined;
}

/** Those who wait for room in one mailbox, in the order in which they came. */
class Line {
  first: Place | undefined = undefined;
  private last: Place | undefined = undefined;

  add(place: Place): void {
    if (this.last === undefined) this.first = place;
    else this.last.next = place;
    this.last = place;
  }

  leave(place: Place): void {
    place.hasLeft = true;
    while (this.first?.hasLeft === true) this.first = this.first.next;
    if (this.first === undefined) this.last = undefined;
  }

  wakeAll(): void {
    for (let place = this.first; place !== undefined; place = place.next) place.wake();
  }
}

type Answer = 'accepted' | 'full' | Error;

/**
 * WaitingSends that wait for room. Whoever waits for the same actor stands in one line, and whoever comes later stands behind
 * them, also when there is room again: nobody is overtaken. All are woken together, and each sends by itself, so that
 * what it sends belongs to whatever it is part of.
 */
export class WaitingSends {
  private readonly runtime: Parts<'delivery' | 'ready'>;
  private readonly lines = new Map<RefBase, Line>();

  constructor(runtime: WaitingSends['runtime']) {
    this.runtime = runtime;
  }

  /** `ref.send`: resolves when the mailbox has taken the message, rejects when it never will, or when the signal fires. */
  send(ref: RefBase, handler: number, payload: unknown, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const line = this.lines.get(ref);
    const answer = line === undefined ? this.offer(ref.cell, handler, payload) : 'full';
    if (answer === 'accepted') return Promise.resolve();
    if (answer !== 'full') return Promise.reject(answer);
    return this.wait(ref, line ?? this.openLine(ref), handler, payload, signal);
  }

  private async wait(
    ref: RefBase,
    line: Line,
    handler: number,
    payload: unknown,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const place = new Place();
    const wake = (): void => place.wake();
    line.add(place);
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        await new Promise<void>((woken) => {
          place.wake = woken;
        });
        signal?.throwIfAborted();
        if (line.first !== place) continue;
        const answer = this.offer(ref.cell, handler, payload);
        if (answer === 'accepted') return;
        if (answer !== 'full') throw answer;
        this.awaitRoom(ref, line);
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      this.leave(ref, line, place);
    }
  }

  private openLine(ref: RefBase): Line {
    const line = new Line();
    this.lines.set(ref, line);
    this.awaitRoom(ref, line);
    return line;
  }

  private awaitRoom(ref: RefBase, line: Line): void {
    this.runtime.ready.backPressure.waitForRoom(ref.cell, () => line.wakeAll());
  }

  /** The next one may have come after the others were woken. */
  private leave(ref: RefBase, line: Line, place: Place): void {
    line.leave(place);
    if (line.first !== undefined) line.first.wake();
    else if (this.lines.get(ref) === line) this.lines.delete(ref);
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
