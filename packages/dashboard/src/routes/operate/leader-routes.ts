import { prometheusText } from '../../metrics/prometheus-text.js';
import { json, jsonBody, type Route } from '../route.js';
import { ANY_VALUE } from '../schemas.js';

/** A probe must answer before its caller gives up. */
const HEALTH_MS = 2_000;

const overview: Route = {
  method: 'get',
  path: '/api/overview',
  role: 'read',
  summary: 'Counts, tables, quotas, workers and the log of the leader.',
  answers: { '200': jsonBody('The leader as of now.', ANY_VALUE) },
  async serve({ client, request }) {
    return json(await client.overview({ signal: request.signal }));
  },
};

const actors: Route = {
  method: 'get',
  path: '/api/actors',
  role: 'operate',
  followMs: 2_000,
  summary: 'The live actors of the leader, why each does not run, its recent messages and its log.',
  answers: { '200': jsonBody('The actors as of now.', ANY_VALUE) },
  async serve({ client, request }) {
    return json(await client.actors({ signal: request.signal }));
  },
};

const workers: Route = {
  method: 'get',
  path: '/api/workers',
  role: 'read',
  summary: 'The workers that the leader knows.',
  answers: { '200': jsonBody('Workers.', { type: 'object', properties: { workers: { type: 'array' } } }) },
  async serve({ client, request }) {
    const { workers: views } = await client.overview({ signal: request.signal });
    return json({ workers: views });
  },
};

const health: Route = {
  method: 'get',
  path: '/api/health',
  role: undefined,
  summary: 'Whether the leader answers and takes submits. Shows no names and no numbers.',
  answers: {
    '200': jsonBody('It does.', { type: 'object', properties: { status: { const: 'ok' } } }),
    '503': jsonBody('It is away or refuses submits.', {
      type: 'object',
      properties: { status: { enum: ['away', 'refusing'] }, codes: { type: 'array' } },
    }),
  },
  async serve({ client }) {
    const refusing = await client.overview({ withinMs: HEALTH_MS }).then(
      (leader) => leader.refusing.map(({ code }) => code),
      () => undefined,
    );
    if (refusing === undefined) return json({ status: 'away' }, 503);
    if (refusing.length > 0) return json({ status: 'refusing', codes: refusing }, 503);
    return json({ status: 'ok' });
  },
};

const metrics: Route = {
  method: 'get',
  path: '/metrics',
  role: 'read',
  summary: 'Figures of the leader for Prometheus.',
  answers: { '200': { description: 'Text format 0.0.4.', content: { 'text/plain': { type: 'string' } } } },
  async serve({ client, request }) {
    const wait = { signal: request.signal };
    const [leader, { execs }] = await Promise.all([client.overview(wait), client.stats(wait)]);
    const text = prometheusText(leader, execs);
    return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
  },
};

export const LEADER_ROUTES: readonly Route[] = [overview, actors, workers, health, metrics];
