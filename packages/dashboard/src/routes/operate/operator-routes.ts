import { json, jsonBody, type Route, type RouteParameter } from '../route.js';

const WORKER: RouteParameter = {
  name: 'worker',
  in: 'path',
  description: 'The name of a worker, or of one process of it.',
  schema: { type: 'string' },
};
const PROCESSES = jsonBody('The number of its processes.', {
  type: 'object',
  properties: { processes: { type: 'integer' } },
});

const audit: Route = {
  method: 'get',
  path: '/api/audit',
  role: 'read',
  followMs: 3_000,
  summary: 'Acts of clients and operators: the latest ones, or those behind a number.',
  parameters: [
    { name: 'after', in: 'query', description: 'Acts behind this number.', schema: { type: 'integer' } },
    {
      name: 'max',
      in: 'query',
      description: 'At most so many; 100 unless given.',
      schema: { type: 'integer' },
    },
  ],
  answers: {
    '200': jsonBody('Oldest first.', { type: 'object', properties: { entries: { type: 'array' } } }),
  },
  async serve({ client, parameters, request: { signal } }) {
    const after = parameters.count('after', 0, Number.MAX_SAFE_INTEGER);
    const max = parameters.count('max', 1, 1_000) ?? 100;
    return json({ entries: await client.audit({ after, max, signal }) });
  },
};

const clients: Route = {
  method: 'get',
  path: '/api/clients',
  role: 'read',
  summary: 'The connected clients, their limits and refusals.',
  answers: { '200': jsonBody('Clients.', { type: 'object', properties: { clients: { type: 'array' } } }) },
  async serve({ client, request: { signal } }) {
    return json({ clients: await client.clients({ signal }) });
  },
};

function change(verb: 'quiet' | 'resume' | 'stop', summary: string): Route {
  return {
    method: 'post',
    path: `/api/workers/{worker}/${verb}`,
    role: 'operate',
    summary,
    parameters: [WORKER],
    answers: { '200': PROCESSES },
    async serve({ client, parameters, request: { signal } }) {
      return json({ processes: await client.workers[verb](parameters.inPath('worker'), { signal }) });
    },
  };
}

export const OPERATOR_ROUTES: readonly Route[] = [
  audit,
  clients,
  change('quiet', 'The worker gets no more jobs.'),
  change('resume', 'The worker gets jobs again.'),
  change('stop', 'The worker ends when its attempts have.'),
];
