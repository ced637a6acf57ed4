import type { ExecStatsView, QueueView } from '@troupe/jobs';
import { json, jsonBody, type Route, type RouteParameter } from '../route.js';
import { ANY_VALUE } from '../schemas.js';

const QUEUE: RouteParameter = {
  name: 'queue',
  in: 'path',
  description: 'An exec, `group/exec` (its slash as %2F), or `*` for all queues together.',
  schema: { type: 'string' },
};

const list: Route = {
  method: 'get',
  path: '/api/queues',
  role: 'read',
  followMs: 2_000,
  summary: 'Queues with jobs, limits or a mode, and the figures of each exec.',
  answers: {
    '200': jsonBody('Queues by name, figures by exec.', {
      type: 'object',
      properties: { queues: { type: 'array' }, execs: { type: 'array' } },
    }),
  },
  async serve({ client, request: { signal } }) {
    const [queues, stats]: [readonly QueueView[], { readonly execs: readonly ExecStatsView[] }] =
      await Promise.all([client.queues({ signal }), client.stats({ signal })]);
    return json({ queues, execs: stats.execs });
  },
};

function change(verb: 'pause' | 'resume' | 'drain', summary: string): Route {
  return {
    method: 'post',
    path: `/api/queues/{queue}/${verb}`,
    role: 'operate',
    summary,
    parameters: [QUEUE],
    answers: { '200': jsonBody('The queue.', ANY_VALUE) },
    async serve({ client, parameters, request }) {
      const queue = client.queue(parameters.inPath('queue'));
      return json(await queue[verb]({ signal: request.signal }));
    },
  };
}

export const QUEUE_ROUTES: readonly Route[] = [
  list,
  change('pause', 'No job of the queue begins until it is resumed.'),
  change('resume', 'Ends a pause or a drain.'),
  change('drain', 'Submits are refused until it is resumed; accepted jobs go on.'),
];
