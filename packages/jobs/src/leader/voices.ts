import type { ClientSession } from './client-session.js';
import type { Session } from './leader-context.js';

/** Sessions that have something to say: it leaves in one message of each kind at the end of the turn. */
export class Voices {
  private readonly talkative: Session[] = [];
  private readonly holders = new Set<ClientSession>();

  list(session: Session): void {
    if (session.listed) return;
    session.listed = true;
    this.talkative.push(session);
  }

  speak(): void {
    for (const session of this.talkative) {
      session.flush();
      if (session.kind === 'client' && session.holding) this.holders.add(session);
    }
    this.talkative.length = 0;
  }

  /** What was held back for company has waited long enough. */
  hurry(): void {
    for (const session of this.holders) if (session.holding) session.hurry();
    this.holders.clear();
  }
}
