import { badInput } from '../../problem/http-problem.js';
import { readJson } from '../request-body.js';
import { json, jsonBody, type Route } from '../route.js';
import { ANY_VALUE, JOB_ID } from '../schemas.js';
import { handleOf } from './job-routes.js';

const IDS = {
  type: 'object',
  required: ['ids'],
  properties: { ids: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 1_000 } },
} as const;
const COUNT = jsonBody('How many were changed.', {
  type: 'object',
  properties: { count: { type: 'integer' } },
});

function bulk(verb: 'redrive' | 'purge', summary: string): Route {
  return {
    method: 'post',
    path: `/api/dead-letters/${verb}`,
    role: 'operate',
    summary,
    body: jsonBody('Ids of dead letters; others among them are left alone.', IDS),
    answers: { '200': COUNT },
    async serve({ client, request }) {
      const ids = idsOf(await readJson(request));
      return json({ count: await client[verb](ids, { signal: request.signal }) });
    },
  };
}

const edited: Route = {
  method: 'post',
  path: '/api/dead-letters/{id}/redrive',
  role: 'operate',
  summary: 'Puts one dead letter back into its queue with another input, and with fresh counts.',
  parameters: [JOB_ID],
  body: jsonBody('The new input.', {
    type: 'object',
    required: ['input'],
    properties: { input: ANY_VALUE },
  }),
  answers: { '200': COUNT },
  async serve(call) {
    const { client, jobs, parameters, request } = call;
    const { signal } = request;
    const { input } = ((await readJson(request)) ?? {}) as { input?: unknown };
    if (input === undefined) throw badInput('input: needed a value');
    const { exec } = await handleOf(call).inspect({ signal });
    await client.redriveEdited(jobs.given.get(exec) ?? jobs.any, parameters.inPath('id'), input, { signal });
    return json({ count: 1 });
  },
};

export const DEAD_LETTER_ROUTES: readonly Route[] = [
  bulk('redrive', 'Puts dead letters back into the queue, with fresh counts.'),
  bulk('purge', 'Deletes dead letters.'),
  edited,
];

function idsOf(body: unknown): readonly string[] {
  const { ids } = (body ?? {}) as { ids?: unknown };
  const isList = Array.isArray(ids) && ids.length > 0 && ids.length <= IDS.properties.ids.maxItems;
  if (isList && ids.every((id) => typeof id === 'string')) return ids;
  throw badInput(`ids: needed 1 to ${IDS.properties.ids.maxItems} texts`);
}
