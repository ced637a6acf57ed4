import type { Session } from '../leader-context.js';
import type { ClientSession } from './client-session.js';

/**
 * The sessions with messages to write: each is offered one message of each kind at the end of the turn. A
 * session without room keeps its messages and is offered them again when it is writable, at the latest with
 * the next tick.
 */
export class OutboundFlush {
  private dirty: Session[] = [];
  private readonly full = new Set<Session>();
  private readonly onPostponed: (session: ClientSession) => void;

  /** `onPostponed`: a session with room has outcomes to be read from the ledger. */
  constructor(onPostponed: (session: ClientSession) => void) {
    this.onPostponed = onPostponed;
  }

  markDirty(session: Session): void {
    if (session.dirty || session.isFull) return;
    session.dirty = true;
    this.dirty.push(session);
  }

  get isEmpty(): boolean {
    return this.dirty.length === 0;
  }

  /** True: a session has more to write. */
  flushAll(): boolean {
    const { dirty } = this;
    if (dirty.length === 0) return false;
    this.dirty = [];
    for (const session of dirty) this.flush(session);
    return this.dirty.length > 0;
  }

  /** There is room again. */
  writable(session: Session): void {
    if (!this.full.delete(session)) return;
    session.isFull = false;
    this.markDirty(session);
  }

  retryAll(): void {
    for (const session of this.full) this.writable(session);
  }

  private flush(session: Session): void {
    if (session.kind === 'client' && session.hasPostponed) this.onPostponed(session);
    session.dirty = false;
    if (!session.flush()) {
      session.isFull = true;
      this.full.add(session);
    } else if (session.kind === 'client' && session.hasPostponed) this.markDirty(session);
  }
}
