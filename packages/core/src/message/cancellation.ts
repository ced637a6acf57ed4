import type { Envelope, EnvelopeOwner } from './envelope.js';

/** An ask, or a send that waits for room. */
export interface Cancellable {
  /** Ends it; returns the asks and sends that depend on it, to be cancelled too. */
  cancel(reason: unknown): readonly Cancellable[];
}

/** A set of asks and sends that end together: those on one signal, or those of one handler. */
export interface CancelGroup {
  remove(member: Cancellable): void;
}

/** One after the other, not by recursion: a chain of asks may be long. */
export function cancelAll(first: Iterable<Cancellable>, reason: unknown): void {
  const open = [...first];
  for (const one of open) for (const dependent of one.cancel(reason)) open.push(dependent);
}

/**
 * The cancellable side of an ask: the signal of its handler, and the asks and sends which that handler made.
 * Made when a signal is given or read, and for every ask below one that has it; other asks have none. It
 * takes the place of the envelope's owner, so an envelope needs no field for it (ADR 0116).
 */
export class Cancellation implements Cancellable, CancelGroup {
  /** The asker gave up. */
  isCancelled = false;
  /** Answered, refused, expired or cancelled. */
  isOver: boolean;
  /** Why the handler should end, once it should. */
  aborted: { readonly reason: unknown } | undefined = undefined;
  private readonly envelope: Envelope;
  private readonly owner: EnvelopeOwner;
  private controller: AbortController | undefined = undefined;
  private readonly dependents = new Set<Cancellable>();
  private readonly groups = new Set<CancelGroup>();

  private constructor(envelope: Envelope, owner: EnvelopeOwner) {
    this.envelope = envelope;
    this.owner = owner;
    this.isOver = envelope.resolve === undefined;
    envelope.owner = this;
  }

  /** That of an ask, if it has been made. */
  static in(envelope: Envelope): Cancellation | undefined {
    return envelope.owner instanceof Cancellation ? envelope.owner : undefined;
  }

  /** That of an ask and, for a new one, those of all asks that led to it. Undefined where no one asked. */
  static of(envelope: Envelope): Cancellation | undefined {
    const { owner } = envelope;
    if (owner === undefined || owner instanceof Cancellation) return owner;
    const made = new Cancellation(envelope, owner);
    let below = made;
    for (let cause = envelope.cause; cause?.owner !== undefined; cause = cause.cause) {
      const { owner: above } = cause;
      if (above instanceof Cancellation) {
        above.add(below);
        break;
      }
      const next = new Cancellation(cause, above);
      next.add(below);
      below = next;
    }
    return made;
  }

  /** Made when it is first read. Fires when the handler should end. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.aborted !== undefined) this.controller.abort(this.aborted.reason);
    return this.controller.signal;
  }

  /** An ask or send of the handler: it is cancelled with this one. */
  add(dependent: Cancellable): void {
    if (this.isOver) return;
    this.dependents.add(dependent);
    if (dependent instanceof Cancellation) dependent.joined(this);
  }

  remove(dependent: Cancellable): void {
    this.dependents.delete(dependent);
  }

  /** A group that has this as a member, and is left when the ask is over. */
  joined(group: CancelGroup): void {
    if (this.isOver) group.remove(this);
    else this.groups.add(group);
  }

  /** The handler should end; its ask goes on. */
  abort(reason: unknown): void {
    this.aborted ??= { reason };
    this.controller?.abort(reason);
  }

  /** The message is handled once more: its handler gets a new signal. */
  renew(): void {
    if (this.isOver) return;
    this.aborted = undefined;
    this.controller = undefined;
  }

  cancel(reason: unknown): readonly Cancellable[] {
    if (this.isOver || this.isCancelled) return [];
    const open = [...this.dependents];
    this.isCancelled = true;
    this.aborted ??= { reason };
    this.owner.cancelled(this.envelope, reason);
    this.controller?.abort(reason);
    return open;
  }

  /** A handler has ended with this error. True when it only says that the asker has given up. */
  isEndedBy(thrown: unknown): boolean {
    if (this.aborted === undefined || this.envelope.deadline >= 0) return false;
    return thrown === this.aborted.reason || isAbortError(thrown);
  }

  expired(envelope: Envelope): Error | undefined {
    const error = this.owner.expired(envelope);
    if (error !== undefined) this.abort(error);
    return error;
  }

  /** The ask is over: nothing can cancel it any more. */
  finish(): void {
    this.isOver = true;
    for (const group of this.groups) group.remove(this);
    this.groups.clear();
    this.dependents.clear();
  }
}

/** As the platform rejects with it; also for proxies that throw. */
function isAbortError(thrown: unknown): boolean {
  try {
    return thrown instanceof Error && thrown.name === 'AbortError';
  } catch {
    return false;
  }
}
