import type { Host } from '@troupe/core';
import { HttpProblem } from '../problem/http-problem.js';
import type { AccessTokens } from './access-tokens.js';
import { type BrowserSession, BrowserSessions, isCsrf, SESSION_COOKIE } from './browser-sessions.js';
import { FailedTokens } from './failed-tokens.js';
import { type HostCheck, isCrossSite } from './host-check.js';
import { ALL_ROLES, type Principal, type Role } from './role.js';

/** The gateway itself, and everybody where no tokens are configured. */
export const LOCAL: Principal = { name: 'local', roles: ALL_ROLES };

/** Decides who a request comes from and what it may do. Throws {@link HttpProblem} for one that may not. */
export class AccessGate {
  readonly sessions: BrowserSessions;
  private readonly tokens: AccessTokens;
  private readonly hosts: HostCheck;
  private readonly failed: FailedTokens;

  constructor(tokens: AccessTokens, hosts: HostCheck, clock: Pick<Host, 'now'>) {
    this.tokens = tokens;
    this.hosts = hosts;
    this.failed = new FailedTokens(clock);
    this.sessions = new BrowserSessions(clock);
  }

  get needsToken(): boolean {
    return !this.tokens.isEmpty;
  }

  /** For every request, before anything of it is used. */
  checkSite({ headers, method, url }: Request): void {
    // A request may name its host in its target too, as those to proxies do.
    if (!this.hosts.accepts(headers.get('host')) || !this.hosts.accepts(new URL(url).host))
      throw new HttpProblem(
        421,
        'ERR_HTTP_HOST',
        'this host name is not served here; name it in `hosts` (--http-host)',
      );
    if (!isSafe(method) && isCrossSite(headers))
      throw new HttpProblem(
        403,
        'ERR_HTTP_CROSS_SITE',
        'a page of another site may not change anything here',
      );
  }

  /** The principal, if it has that role. */
  admit(request: Request, remote: string, role: Role | undefined): Principal {
    if (role === undefined) return LOCAL;
    const principal = this.identify(request, remote);
    if (principal.roles.has(role)) return principal;
    throw new HttpProblem(403, 'ERR_HTTP_FORBIDDEN', `token ${principal.name}: this needs the role ${role}`);
  }

  identify(request: Request, remote: string): Principal {
    if (this.tokens.isEmpty) return LOCAL;
    const { headers, method } = request;
    const given = /^Bearer (\S{1,512})$/i.exec(headers.get('authorization') ?? '')?.[1];
    if (given !== undefined) return this.byToken(given, remote);
    const session = this.sessionOf(request);
    if (session === undefined) throw tokenProblem('a token is needed: Authorization: Bearer …');
    if (!isSafe(method) && !isCsrf(session, headers.get('x-csrf-token') ?? ''))
      throw new HttpProblem(403, 'ERR_HTTP_CROSS_SITE', 'the header x-csrf-token of this session is missing');
    return session.principal;
  }

  /** Also for the page, which trades its token for a session. */
  byToken(given: string, remote: string): Principal {
    const waitMs = this.failed.waitMs(remote);
    if (waitMs > 0) {
      const seconds = String(Math.ceil(waitMs / 1_000));
      throw new HttpProblem(429, 'ERR_HTTP_RATE', `too many wrong tokens; wait ${seconds} s`, {
        'retry-after': seconds,
      });
    }
    const principal = this.tokens.find(given);
    if (principal !== undefined) return principal;
    this.failed.add(remote);
    throw tokenProblem('the token is not known');
  }

  sessionOf({ headers }: Request): BrowserSession | undefined {
    const pattern = new RegExp(`(?:^|;\\s*)${SESSION_COOKIE}=([\\w-]{1,64})(?:;|$)`);
    const id = pattern.exec(headers.get('cookie') ?? '')?.[1];
    return id === undefined ? undefined : this.sessions.find(id);
  }
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function tokenProblem(detail: string): HttpProblem {
  return new HttpProblem(401, 'ERR_HTTP_TOKEN', detail, { 'www-authenticate': 'Bearer realm="troupe"' });
}
