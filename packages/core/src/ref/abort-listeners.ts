import { type CancelGroup, type Cancellable, cancelAll } from '../message/cancellation.js';

/**
 * The asks and sends on one signal. They share one listener, which is there only while there are any: a
 * signal that lives as long as its process collects none.
 */
class AbortListener implements CancelGroup {
  private readonly signal: AbortSignal;
  private readonly members = new Set<Cancellable>();
  private readonly onAbort = (): void => cancelAll(this.members, this.signal.reason);

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  add(member: Cancellable): void {
    if (this.members.size === 0) this.signal.addEventListener('abort', this.onAbort);
    this.members.add(member);
  }

  remove(member: Cancellable): void {
    if (this.members.delete(member) && this.members.size === 0)
      this.signal.removeEventListener('abort', this.onAbort);
  }
}

const listeners = new WeakMap<AbortSignal, AbortListener>();

/** Cancels that ask or send when the signal fires, until it leaves the group. */
export function cancelOnAbort(signal: AbortSignal, member: Cancellable): CancelGroup {
  let listener = listeners.get(signal);
  if (listener === undefined) {
    listener = new AbortListener(signal);
    listeners.set(signal, listener);
  }
  listener.add(member);
  return listener;
}
