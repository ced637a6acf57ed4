import { nodeHost } from '@troupe/core';
import { type Context, Hono } from 'hono';
import { AccessGate } from './access/access-gate.js';
import { AccessTokens } from './access/access-tokens.js';
import { HostCheck } from './access/host-check.js';
import { setSecurityHeaders } from './access/security-headers.js';
import { checkDashboardOptions, type DashboardOptions } from './dashboard-options.js';
import { liveResponse } from './live/event-stream.js';
import { LiveOverview } from './live/live-overview.js';
import { pageFiles } from './node-page-files.js';
import { openapiDocument } from './openapi/openapi-document.js';
import { HttpProblem } from './problem/http-problem.js';
import { problemOfError } from './problem/problem-of-error.js';
import { Redaction } from './redaction/redaction.js';
import { ROUTES } from './routes/all-routes.js';
import { JobDefinitions } from './routes/job/job-definitions.js';
import { RequestParameters } from './routes/request-parameters.js';
import { json, type Route } from './routes/route.js';
import { SessionRoutes } from './routes/session-routes.js';

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
  const app = new Hono<GatewayEnv>();
  app.use(async ({ req }, next) => {
    gate.checkSite(req.raw);
    await next();
  });
  for (const route of ROUTES) {
    const known = new Set((route.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : [])));
    app.on(route.method.toUpperCase(), routerPath(route), ({ req, env }) => {
      const request = req.raw;
      const principal = gate.admit(request, env.remote, route.role);
      const parameters = new RequestParameters(req.param(), new URL(request.url).searchParams, known);
      return route.serve({ client, jobs, principal, request, parameters, bodyBytesMax, redaction });
    });
  }
  addSessionRoutes(app, new SessionRoutes(gate));
  const live = new LiveOverview(client);
  app.get('/api/live', ({ req, env }) => {
    gate.admit(req.raw, env.remote, 'read');
    return liveResponse(live, req.raw.signal);
  });
  // The page itself shows nothing before its token is accepted.
  for (const [path, file] of pageFiles()) app.get(path, file);
  const document = openapiDocument(ROUTES, jobs.given);
  app.get('/api/openapi.json', () => json(document));
  app.notFound(({ req }) =>
    new HttpProblem(
      404,
      'ERR_HTTP_NOT_FOUND',
      `${req.method} ${req.path}: there is no such route`,
    ).response(),
  );
  app.onError(answerError);
  return {
    async fetch(request, { remote = '' } = {}) {
      const answer = await app.fetch(request, { remote });
      setSecurityHeaders(answer.headers);
      return answer;
    },
  };
}

function addSessionRoutes(app: Hono<GatewayEnv>, sessions: SessionRoutes): void {
  app.get('/api/session', ({ req, env }) => sessions.current(req.raw, env.remote));
  app.post('/api/session', ({ req, env }) => sessions.open(req.raw, env.remote));
  app.delete('/api/session', ({ req }) => sessions.close(req.raw));
}

/** An error that no route expects is a bug here: the answer says nothing of its text. */
function answerError(error: Error, { req }: Context<GatewayEnv>): Response {
  const problem = problemOfError(error);
  if (problem !== undefined) return problem.response();
  if (req.raw.signal.aborted) return new Response(null, { status: 499 });
  console.error(`dashboard: ${req.method} ${req.path}`, error);
  return new HttpProblem(500, 'ERR_HTTP_INTERNAL', 'the gateway failed; its log has the reason').response();
}

function routerPath({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
