import { type Client, type ScheduleOptions, type ScheduleView, scheduleTimes } from '@troupe/jobs';
import { badInput } from '../../problem/http-problem.js';
import { readJson } from '../request-body.js';
import { json, jsonBody, type Route, type RouteParameter } from '../route.js';
import { ANY_VALUE } from '../schemas.js';

const TIMES_SHOWN = 10;
const LIST_MAX = 1_000;

const NAME: RouteParameter = {
  name: 'name',
  in: 'path',
  description: 'The name of a schedule.',
  schema: { type: 'string' },
};
const SCHEDULE = jsonBody('The schedule, with its next ten times.', {
  type: 'object',
  properties: {
    name: { type: 'string' },
    exec: { type: 'string' },
    rule: ANY_VALUE,
    paused: { type: 'boolean' },
    next: { type: 'array', items: { type: 'number' }, description: 'Milliseconds since 1970.' },
    lastAt: { type: 'number' },
    lastJob: { type: 'string' },
    runs: { type: 'integer' },
    skipped: { type: 'integer' },
  },
});

const list: Route = {
  method: 'get',
  path: '/api/schedules',
  role: 'read',
  followMs: 5_000,
  summary: 'Schedules in the order of their names, page by page.',
  parameters: [
    { name: 'after', in: 'query', description: '`next` of the page before.', schema: { type: 'string' } },
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
      properties: { schedules: { type: 'array' }, next: { type: 'string' } },
    }),
  },
  async serve({ client, parameters, request }) {
    const max = parameters.count('max', 1, LIST_MAX) ?? 100;
    const after = parameters.text('after', 128);
    const views = await client.schedules.list({ after, max, signal: request.signal });
    const last = views.length < max ? undefined : views.at(-1)?.name;
    return json({ schedules: views.map((view) => shown(client, view)), next: last });
  },
};

const set: Route = {
  method: 'post',
  path: '/api/schedules/{name}',
  role: 'operate',
  summary: 'Adds a schedule, or changes the one of this name.',
  parameters: [NAME],
  body: jsonBody('The job, its input, and `cron` (with `zone`) or `everyMs`.', {
    type: 'object',
    required: ['exec'],
    properties: {
      exec: { type: 'string' },
      input: ANY_VALUE,
      cron: { type: 'string' },
      zone: { type: 'string' },
      everyMs: { type: 'integer' },
      jitterMs: { type: 'integer' },
      overlap: { enum: ['skip', 'queue', 'replace'] },
      catchUp: ANY_VALUE,
    },
  }),
  answers: { '200': SCHEDULE },
  async serve({ client, jobs, parameters, request }) {
    const body = ((await readJson(request)) ?? {}) as Readonly<Record<string, unknown>>;
    const { exec, input = null, ...rule } = body;
    if (typeof exec !== 'string') throw badInput('exec: needed a text');
    const job = jobs.of(exec, undefined, { streams: false, isFed: false });
    const options = { ...rule, signal: request.signal } as ScheduleOptions; // checked by `add`
    return json(shown(client, await client.schedules.add(parameters.inPath('name'), job, input, options)));
  },
};

function change(verb: 'run' | 'pause' | 'resume', summary: string): Route {
  return {
    method: 'post',
    path: `/api/schedules/{name}/${verb}`,
    role: 'operate',
    summary,
    parameters: [NAME],
    answers: { '200': SCHEDULE },
    async serve({ client, parameters, request }) {
      const { signal } = request;
      return json(shown(client, await client.schedules[verb](parameters.inPath('name'), { signal })));
    },
  };
}

const remove: Route = {
  method: 'delete',
  path: '/api/schedules/{name}',
  role: 'operate',
  summary: 'Removes a schedule. Jobs that it has submitted go on.',
  parameters: [NAME],
  answers: { '204': { description: 'It is gone.', content: {} } },
  async serve({ client, parameters, request }) {
    await client.schedules.remove(parameters.inPath('name'), { signal: request.signal });
    return new Response(null, { status: 204 });
  },
};

export const SCHEDULE_ROUTES: readonly Route[] = [
  list,
  set,
  change('run', 'Runs a schedule once, now.'),
  change('pause', 'Pauses a schedule.'),
  change('resume', 'Lets a paused schedule go on.'),
  remove,
];

function shown(client: Client, { nextAt, lastJob, ...view }: ScheduleView): object {
  const next = view.paused ? [] : [nextAt, ...scheduleTimes(view.rule, nextAt, TIMES_SHOWN - 1)];
  return { ...view, next, ...(lastJob === 0 ? {} : { lastJob: client.idOf(lastJob) }) };
}
