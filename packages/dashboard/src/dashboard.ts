import { nodeHost } from '@troupe/core';
import { Hono } from 'hono';
import { AccessGate, LOCAL } from './access/access-gate.js';
import { AccessTokens } from './access/access-tokens.js';
import { HostCheck } from './access/host-check.js';
import { setSecurityHeaders } from './access/security-headers.js';
import { checkDashboardOptions, type DashboardOptions } from './dashboard-options.js';
import { FollowedRoutes } from './live/followed-routes.js';
import { LiveLooks } from './live/live-looks.js';
import { LiveOverview } from './live/live-overview.js';
import { pageFiles } from './node-page-files.js';
import { HttpProblem } from './problem/http-problem.js';
import { problemOfError } from './problem/problem-of-error.js';
import { Redaction } from './redaction/redaction.js';
import { allRoutes, CLIENT_ROUTES } from './routes/all-routes.js';
import { AllowedMethods } from './routes/allowed-methods.js';
import { JobDefinitions } from './routes/job/job-definitions.js';
import { RequestParameters } from './routes/request-parameters.js';
import type { Route, RouteCall } from './routes/route.js';

const BODY_BYTES_MAX = 8 * 1024 * 1024;

/** Of the connection that a request came over. */
export interface RequestOrigin {
  /** The address of the peer, for the limit of wrong tokens. Default: one for all. */
  readonly remote?: string | undefined;
}

/** Answers HTTP requests of people and programs by calls of a client. */
export interface Dashboard {
  /** The answer to one request, in the form that servers of the Fetch API call. */
  readonly fetch: (request: Request, origin?: RequestOrigin) => Promise<Response>;
}

interface GatewayEnv {
  readonly Bindings: { readonly remote: string };
}

/** The HTTP API of a leader as a handler of requests; `serveDashboard` listens for it on Node. */
export function dashboard(options: DashboardOptions): Dashboard {
  checkDashboardOptions(options);
  const { client, jobs: given = [], tokens = [], hosts = [], host = nodeHost } = options;
  const bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
  const gate = new AccessGate(new AccessTokens(tokens), new HostCheck(hosts), host);
  const jobs = new JobDefinitions(given);
  const redaction = new Redaction(options.redact ?? []);
  const parts = { client, jobs, bodyBytesMax, redaction };
  const followed = new FollowedRoutes(CLIENT_ROUTES);
  const looks = new LiveLooks((path, signal) => lookAt(followed, path, signal, parts));
  const overview = new LiveOverview(client);
  const app = new Hono<GatewayEnv>();
  app.use(async ({ req }, next) => {
    gate.checkSite(req.raw);
    await next();
  });
  const routes = allRoutes({ gate, jobs, overview, looks, followed });
  for (const route of routes) {
    const known = new Set((route.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : [])));
    app.on(route.method.toUpperCase(), routerPath(route), async ({ req, env: { remote } }) => {
      const request = req.raw;
      const principal = gate.admit(request, remote, route.role);
      const parameters = new RequestParameters(req.param(), new URL(request.url).searchParams, known);
      const acting = principal === LOCAL ? client : client.actingFor(principal.name);
      const answer = await route.serve({ ...parts, client: acting, principal, request, parameters, remote });
      if (route.method !== 'get' && route.role === 'operate') looks.lookAgain();
      return answer;
    });
  }
  // The page itself shows nothing before its token is accepted.
  const files = pageFiles();
  for (const [path, file] of files) app.get(path, file);
  const pages = [...files.keys()].map((path) => ({ path, method: 'get' as const }));
  const methods = new AllowedMethods([...routes, ...pages]);
  app.notFound(({ req }) => noRoute(`${req.method} ${req.path}`, methods.of(req.path)).response());
  app.onError((error, { req }) => answerError(error, `${req.method} ${req.path}`, req.raw.signal));
  return {
    async fetch(request, { remote = '' } = {}) {
      const answer = await app.fetch(request, { remote });
      setSecurityHeaders(answer.headers);
      return answer;
    },
  };
}

/** For pages that follow the answer: the right of each was checked when it came. */
async function lookAt(
  followed: FollowedRoutes,
  path: string,
  signal: AbortSignal,
  parts: Pick<RouteCall, 'client' | 'jobs' | 'bodyBytesMax' | 'redaction'>,
): Promise<Response> {
  const found = followed.find(path);
  if (found === undefined) throw new Error(`${path} is followed without a route`);
  const { route, parameters } = found;
  const request = new Request(new URL(path, 'http://localhost'), { signal });
  try {
    return await route.serve({ ...parts, principal: LOCAL, request, parameters, remote: '' });
  } catch (error) {
    return answerError(error as Error, `GET ${path}`, signal);
  }
}

function noRoute(target: string, allow: string): HttpProblem {
  if (allow === '') return new HttpProblem(404, 'ERR_HTTP_NOT_FOUND', `${target}: there is no such route`);
  return new HttpProblem(405, 'ERR_HTTP_METHOD', `${target}: this path takes ${allow}`, { allow });
}

/** An error that no route expects is a bug here: the answer says nothing of its text. */
function answerError(error: Error, target: string, signal: AbortSignal): Response {
  const problem = problemOfError(error);
  if (problem !== undefined) return problem.response();
  if (signal.aborted) return new Response(null, { status: 499 });
  console.error(`dashboard: ${target}`, error);
  return new HttpProblem(500, 'ERR_HTTP_INTERNAL', 'the gateway failed; its log has the reason').response();
}

function routerPath({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
