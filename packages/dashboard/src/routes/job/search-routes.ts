import type { JobFilter } from '@troupe/jobs';
import type { RequestParameters } from '../request-parameters.js';
import { json, jsonBody, type Route, type RouteParameter } from '../route.js';
import { JOB_ID, JOB_STATES, JOB_VIEW } from '../schemas.js';
import { shownJob } from './job-view.js';

const LIST_MAX = 1_000;
const TEXT_FIELDS = [
  'exec',
  'group',
  'tenant',
  'client',
  'key',
  'orderKey',
  'tag',
  'error',
  'fingerprint',
] as const;

const FILTERS: readonly RouteParameter[] = [
  { name: 'state', in: 'query', description: 'In this state.', schema: { enum: JOB_STATES } },
  ...TEXT_FIELDS.map(
    (name): RouteParameter => ({
      name,
      in: 'query',
      description: `With this ${name}.`,
      schema: { type: 'string' },
    }),
  ),
  {
    name: 'since',
    in: 'query',
    description: 'Submitted then or later: milliseconds since 1970.',
    schema: { type: 'integer' },
  },
  { name: 'until', in: 'query', description: 'Submitted before.', schema: { type: 'integer' } },
];

const search: Route = {
  method: 'get',
  path: '/api/search',
  role: 'read',
  summary: 'Jobs that fit every given field, page by page.',
  parameters: [
    ...FILTERS,
    { name: 'after', in: 'query', description: '`next` of the page before.', schema: { type: 'integer' } },
    {
      name: 'max',
      in: 'query',
      description: 'At most so many; 100 unless given.',
      schema: { type: 'integer' },
    },
  ],
  answers: {
    '200': jsonBody('A page. `next` is absent on the last one.', {
      type: 'object',
      properties: { jobs: { type: 'array', items: JOB_VIEW }, next: { type: 'integer' } },
    }),
  },
  async serve({ client, parameters, request: { signal } }) {
    const max = parameters.count('max', 1, LIST_MAX) ?? 100;
    const after = parameters.count('after', 0, Number.MAX_SAFE_INTEGER) ?? 0;
    const { jobs, next } = await client.search(filterOf(parameters), { after, max, signal });
    return json({ jobs: jobs.map((view) => shownJob(client, view)), next: next === 0 ? undefined : next });
  },
};

const explain: Route = {
  method: 'get',
  path: '/api/jobs/{id}/explain',
  role: 'read',
  followMs: 2_000,
  summary: 'All reasons why a job does not run, with their numbers.',
  parameters: [JOB_ID],
  answers: {
    '200': jsonBody('The explanation.', {
      type: 'object',
      properties: {
        id: { type: 'string' },
        state: { enum: JOB_STATES },
        reasons: { type: 'array' },
        estimateMs: { type: 'number' },
      },
    }),
  },
  async serve({ client, parameters, request: { signal } }) {
    const id = parameters.inPath('id');
    const { job: _job, reasons, ...rest } = await client.explain(id, { signal });
    const shown = reasons.map((reason) =>
      reason.kind === 'order-key'
        ? { ...reason, holders: reason.holders.map((job) => client.idOf(job)) }
        : reason,
    );
    return json({ id, ...rest, reasons: shown });
  },
};

const groups: Route = {
  method: 'get',
  path: '/api/dead-letters/groups',
  role: 'read',
  followMs: 3_000,
  summary: 'Dead letters by their error, the largest groups first.',
  answers: { '200': jsonBody('Groups.', { type: 'object', properties: { groups: { type: 'array' } } }) },
  async serve({ client, request: { signal } }) {
    const found = await client.deadLetterGroups({ signal });
    return json({
      groups: found.map(({ jobs, ...group }) => ({ ...group, ids: jobs.map((job) => client.idOf(job)) })),
    });
  },
};

export const SEARCH_ROUTES: readonly Route[] = [search, explain, groups];

function filterOf(parameters: RequestParameters): JobFilter {
  const texts = TEXT_FIELDS.map((name) => [name, parameters.text(name) || undefined] as const);
  return {
    ...Object.fromEntries(texts.filter(([, value]) => value !== undefined)),
    state: parameters.choice('state', JOB_STATES),
    since: parameters.count('since', 0, Number.MAX_SAFE_INTEGER),
    until: parameters.count('until', 0, Number.MAX_SAFE_INTEGER),
  };
}
