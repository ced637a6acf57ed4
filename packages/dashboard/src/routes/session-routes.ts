import type { AccessGate } from '../access/access-gate.js';
import { SESSION_COOKIE } from '../access/browser-sessions.js';
import type { Principal } from '../access/role.js';
import { badInput } from '../problem/http-problem.js';
import { readJson } from './request-body.js';
import { json } from './route.js';

/**
 * The page trades a token for a cookie, so that no script has to keep the token. The answers have the csrf
 * token, which the page sends with every change.
 */
export class SessionRoutes {
  private readonly gate: AccessGate;

  constructor(gate: AccessGate) {
    this.gate = gate;
  }

  /** The user of the page at present; 401 if the page has to ask for a token. */
  current(request: Request, remote: string): Response {
    const { gate } = this;
    const principal = gate.identify(request, remote);
    return json({ ...shown(principal), csrf: gate.sessionOf(request)?.csrf });
  }

  async open(request: Request, remote: string): Promise<Response> {
    const { token } = ((await readJson(request)) ?? {}) as { token?: unknown };
    if (typeof token !== 'string') throw badInput('token: needed a text');
    const { id, csrf, principal } = this.gate.sessions.open(this.gate.byToken(token, remote));
    const answer = json({ ...shown(principal), csrf }, 201);
    answer.headers.set('set-cookie', cookie(request, id, 12 * 3_600));
    return answer;
  }

  close(request: Request): Response {
    const session = this.gate.sessionOf(request);
    if (session !== undefined) this.gate.sessions.close(session.id);
    return new Response(null, { status: 204, headers: { 'set-cookie': cookie(request, '', 0) } });
  }
}

function shown({ name, roles }: Principal): object {
  return { name, roles: [...roles] };
}

function cookie(request: Request, id: string, seconds: number): string {
  const secure = new URL(request.url).protocol === 'https:' ? '; Secure' : '';
  return `${SESSION_COOKIE}=${id}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
