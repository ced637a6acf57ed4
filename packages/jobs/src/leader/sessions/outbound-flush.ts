import type { Session } from '../leader-context.js';
import type { ClientSession } from './client-session.js';

/** Sessions that have something to say: it leaves in one message of each kind at the end of the turn. */
export class Voices {
  private readonly talkative: Session[] = [];
  /** Clients whose receipts are held back for company, and since when; the one that waits longest comes first. */
  private readonly holders = new Map<ClientSession, number>();

  list(session: Session): void {
    if (session.listed) return;
    session.listed = true;
    this.talkative.push(session);
  }

  speak(now: number): void {
    for (const session of this.talkative) {
      session.flush();
      if (session.kind === 'client') this.note(session, now);
    }
    this.talkative.length = 0;
  }

  /** What has been held back since then has waited long enough. */
  hurry(since: number): void {
    for (const [session, heldAt] of this.holders) {
      if (heldAt > since) return;
      this.holders.delete(session);
      if (session.holding) session.hurry();
    }
  }

  private note(session: ClientSession, now: number): void {
    if (!session.holding) this.holders.delete(session);
    else if (!this.holders.has(session)) this.holders.set(session, now);
  }
}
