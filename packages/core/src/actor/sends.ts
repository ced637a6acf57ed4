import { UndeliveredError } from '../errors.js';
import type { ActorCell } from './cell.js';
import type { RefBase } from './ref-class.js';
import type { Runtime } from './runtime.js';

/** One that waits for room. */
interface Waiting {
  readonly handler: number;
  readonly payload: unknown;
  readonly taken: () => void;
  readonly refused: (error: Error) => void;
  /** It waits no longer, for its signal neither. */
  onEnd: (() => void) | undefined;
}

type Line = Set<Waiting>;
type Answer = 'accepted' | 'full' | Error;

/**
 * Sends that wait for room. Whoever waits for the same actor stands in one line, and whoever comes later stands behind
 * them, also when there is room again: nobody is overtaken.
 */
export class Sends {
  private readonly runtime: Runtime;
  private readonly lines = new Map<RefBase, Line>();

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** `ref.send`: resolves when the mailbox has taken the message, rejects when it never will, or when the signal fires. */
  send(ref: RefBase, handler: number, payload: unknown, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const line = this.lines.get(ref);
    const answer = line === undefined ? this.offer(ref.cell, handler, payload) : 'full';
    if (answer === 'accepted') return Promise.resolve();
    if (answer !== 'full') return Promise.reject(answer);
    return new Promise((taken, refused) => {
      const waiting: Waiting = { handler, payload, taken, refused, onEnd: undefined };
      (line ?? this.openLine(ref)).add(waiting);
      if (signal !== undefined) this.leaveWhen(signal, ref, waiting);
    });
  }

  private offer(cell: ActorCell, handler: number, payload: unknown): Answer {
    const { delivery, ready } = this.runtime;
    const answer = delivery.offer(cell, handler, payload);
    if (answer === 'accepted') return answer;
    if (answer === 'full' && ready.queued < ready.queuedMax) return answer;
    const message = cell.kind.definition['~handlerNames'][handler] as string;
    return new UndeliveredError(cell.path, message, answer === 'closed' ? 'stopped' : 'overloaded');
  }

  private openLine(ref: RefBase): Line {
    const line: Line = new Set();
    this.lines.set(ref, line);
    this.awaitRoom(ref, line);
    return line;
  }

  private leaveWhen(signal: AbortSignal, ref: RefBase, waiting: Waiting): void {
    const leave = (): void => {
      this.lines.get(ref)?.delete(waiting);
      waiting.refused(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    waiting.onEnd = () => signal.removeEventListener('abort', leave);
  }

  /** Not within the turn that has made the room: what is sent here is not sent by its actor. */
  private awaitRoom(ref: RefBase, line: Line): void {
    const { pressure } = this.runtime.ready;
    void new Promise<void>((look) => pressure.await(ref.cell, look)).then(() => this.moveUp(ref, line));
  }

  private moveUp(ref: RefBase, line: Line): void {
    for (const waiting of line) {
      const answer = this.offer(ref.cell, waiting.handler, waiting.payload);
      if (answer === 'full') return this.awaitRoom(ref, line);
      line.delete(waiting);
      waiting.onEnd?.();
      if (answer === 'accepted') waiting.taken();
      else waiting.refused(answer);
    }
    this.lines.delete(ref);
  }
}
