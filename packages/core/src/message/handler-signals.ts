import type { CancelGroup, Cancellable, Cancellation } from './cancellation.js';

/**
 * The signals that the handlers and hooks of one incarnation have read. Messages without an asker share one;
 * an ask has its own until it is over. All fire when the actor is stopped, killed or restarted.
 */
export class HandlerSignals implements CancelGroup {
  private shared: AbortController | undefined = undefined;
  private readonly asked = new Set<Cancellation>();

  /** The signal of a message; `asked` is undefined where no one asked. */
  signalOf(asked: Cancellation | undefined): AbortSignal {
    if (asked === undefined) {
      this.shared ??= new AbortController();
      return this.shared.signal;
    }
    this.asked.add(asked);
    asked.joined(this);
    return asked.signal;
  }

  remove(member: Cancellable): void {
    this.asked.delete(member as Cancellation);
  }

  /** The end of the incarnation. */
  abortAll(reason: Error): void {
    this.shared?.abort(reason);
    for (const asked of [...this.asked]) asked.abort(reason);
  }

  /** The time limit of one message. */
  abort(asked: Cancellation | undefined, reason: Error): void {
    if (asked === undefined) this.shared?.abort(reason);
    else asked.abort(reason);
  }

  /** The next message, or the next try of this one, gets a signal that has not fired. */
  renew(asked: Cancellation | undefined): void {
    if (asked === undefined) this.shared = undefined;
    else asked.renew();
  }
}
