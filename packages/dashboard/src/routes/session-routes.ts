import type { AccessGate } from '../access/access-gate.js';
import { SESSION_COOKIE } from '../access/browser-sessions.js';
import type { Principal } from '../access/role.js';
import { badInput } from '../problem/http-problem.js';
import { readJson } from './request-body.js';
import { json, jsonBody, type Route } from './route.js';

const PATH = '/api/session';
const LIFE_S = 12 * 3_600;
const USER = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    roles: { type: 'array', items: { type: 'string' } },
    csrf: { type: 'string', description: 'For the header `x-csrf-token` of every change.' },
  },
} as const;

/**
 * The page trades a token for a cookie, so that no script has to keep the token. The answers have the csrf
 * token, which the page sends with every change.
 */
export function sessionRoutes(gate: AccessGate): readonly Route[] {
  return [
    {
      method: 'get',
      path: PATH,
      role: undefined,
      summary: 'The user of a page; 401 where a token is needed.',
      answers: { '200': jsonBody('The user.', USER) },
      serve({ request, remote }) {
        const principal = gate.identify(request, remote);
        return json({ ...shown(principal), csrf: gate.sessionOf(request)?.csrf });
      },
    },
    {
      method: 'post',
      path: PATH,
      role: undefined,
      summary: 'Trades a token for the cookie of a session.',
      body: jsonBody('The token.', {
        type: 'object',
        required: ['token'],
        properties: { token: { type: 'string' } },
      }),
      answers: { '201': jsonBody('The session has begun.', USER) },
      async serve({ request, remote }) {
        const { token } = ((await readJson(request)) ?? {}) as { token?: unknown };
        if (typeof token !== 'string') throw badInput('token: needed a text');
        const { id, csrf, principal } = gate.sessions.open(gate.byToken(token, remote));
        const answer = json({ ...shown(principal), csrf }, 201);
        answer.headers.set('set-cookie', cookie(request, id, LIFE_S));
        return answer;
      },
    },
    {
      method: 'delete',
      path: PATH,
      role: undefined,
      summary: 'Ends the session.',
      answers: { '204': { description: 'It is over.', content: {} } },
      serve({ request }) {
        const session = gate.sessionOf(request);
        if (session !== undefined) gate.sessions.close(session.id);
        return new Response(null, { status: 204, headers: { 'set-cookie': cookie(request, '', 0) } });
      },
    },
  ];
}

function shown({ name, roles }: Principal): object {
  return { name, roles: [...roles] };
}

function cookie(request: Request, id: string, seconds: number): string {
  const secure = new URL(request.url).protocol === 'https:' ? '; Secure' : '';
  return `${SESSION_COOKIE}=${id}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
