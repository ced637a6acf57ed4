import type { Session } from '../leader-context.js';

/** The sessions with messages to write: each writes one message of each kind at the end of the turn. */
export class OutboundFlush {
  private readonly dirty: Session[] = [];

  markDirty(session: Session): void {
    if (session.dirty) return;
    session.dirty = true;
    this.dirty.push(session);
  }

  get isEmpty(): boolean {
    return this.dirty.length === 0;
  }

  flushAll(): void {
    for (const session of this.dirty) session.flush();
    this.dirty.length = 0;
  }
}
