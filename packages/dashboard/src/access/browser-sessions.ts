import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Host } from '@troupe/core';
import type { Principal } from './role.js';

export const SESSION_COOKIE = 'troupe_session';

const LIFE_MS = 12 * 3_600_000;
const SESSIONS_MAX = 1_000;

export interface BrowserSession {
  readonly id: string;
  /** Goes with every request of the page that changes something; another site cannot know it. */
  readonly csrf: string;
  readonly principal: Principal;
  readonly endsAt: number;
}

/** Sessions of pages whose user has shown a token once. In memory: a restart asks for the token again. */
export class BrowserSessions {
  private readonly clock: Pick<Host, 'now'>;
  private readonly sessions = new Map<string, BrowserSession>();

  constructor(clock: Pick<Host, 'now'>) {
    this.clock = clock;
  }

  open(principal: Principal): BrowserSession {
    const endsAt = this.clock.now() + LIFE_MS;
    const session = { id: secret(), csrf: secret(), principal, endsAt };
    this.sessions.set(session.id, session);
    if (this.sessions.size > SESSIONS_MAX) this.dropOldest();
    return session;
  }

  find(id: string): BrowserSession | undefined {
    const session = this.sessions.get(id);
    if (session === undefined || session.endsAt > this.clock.now()) return session;
    this.sessions.delete(id);
    return undefined;
  }

  close(id: string): void {
    this.sessions.delete(id);
  }

  private dropOldest(): void {
    for (const id of this.sessions.keys()) return void this.sessions.delete(id);
  }
}

export function isCsrf({ csrf }: BrowserSession, given: string): boolean {
  const [bytes, known] = [Buffer.from(given), Buffer.from(csrf)];
  return bytes.length === known.length && timingSafeEqual(bytes, known);
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}
