import type { JobDefinition, JobHandle, SubmitOptions } from '@troupe/jobs';
import { badInput } from '../../problem/http-problem.js';
import { readBody, readJson } from '../request-body.js';
import type { RequestParameters } from '../request-parameters.js';
import { json, jsonBody, type Route, type RouteCall } from '../route.js';
import { ANY_VALUE, JOB_ID, JOB_STATES, JOB_VIEW } from '../schemas.js';
import { shownJob } from './job-view.js';

const YEAR_MS = 366 * 24 * 3_600_000;
const TAGS_MAX = 16;
const LABELS_MAX = 32;
const LIST_MAX = 1_000;

const RECEIPT = {
  type: 'object',
  required: ['id', 'lsn', 'level', 'duplicate'],
  properties: {
    id: { type: 'string' },
    lsn: { type: 'integer', description: 'Position in the leader’s log.' },
    level: { type: 'string', description: 'The durability: `fsync`.' },
    duplicate: { type: 'boolean', description: 'The job existed already: the same key.' },
  },
} as const;

const submit: Route = {
  method: 'post',
  path: '/api/execs/{exec}/jobs',
  role: 'submit',
  summary: 'Submits a job. The body is its input. Answers once the job is on the leader’s disk.',
  parameters: [
    { name: 'exec', in: 'path', description: 'The name of the job.', schema: { type: 'string' } },
    { name: 'key', in: 'query', description: 'Idempotency key.', schema: { type: 'string' } },
    { name: 'group', in: 'query', description: 'Its group.', schema: { type: 'string' } },
    { name: 'runAfter', in: 'query', description: 'Not before so long.', schema: { type: 'string' } },
    {
      name: 'streaming',
      in: 'query',
      description: 'Its chunks can be read while it runs.',
      schema: { enum: ['response', 'internal'] },
    },
    {
      name: 'tag',
      in: 'query',
      description: 'A text to find it by; may be given several times.',
      schema: { type: 'array', items: { type: 'string' } },
    },
    {
      name: 'priority',
      in: 'query',
      description: 'From 0 to 9; jobs of 9 begin first.',
      schema: { type: 'integer', minimum: 0, maximum: 9 },
    },
    {
      name: 'orderKey',
      in: 'query',
      description: 'Jobs of one key run in their order.',
      schema: { type: 'string' },
    },
    {
      name: 'startWithin',
      in: 'query',
      description: 'Its first attempt must begin within so long: `500ms`, `30s`, `2m`.',
      schema: { type: 'string' },
    },
    {
      name: 'requires',
      in: 'query',
      description: 'A label that its worker must have; may be given several times.',
      schema: { type: 'array', items: { type: 'string' } },
    },
    {
      name: 'traceparent',
      in: 'header',
      description: 'The W3C trace context of the caller: the handler of every attempt has it.',
      schema: { type: 'string' },
    },
    { name: 'fed', in: 'query', description: 'It takes items while it runs.', schema: { enum: ['true'] } },
  ],
  body: {
    description:
      'The input of the job: JSON, or bytes as they are where the content type says so. A large one is streamed to the leader.',
    content: {
      'application/json': ANY_VALUE,
      'application/octet-stream': { type: 'string', format: 'binary' },
    },
  },
  answers: { '201': jsonBody('The job is durable.', RECEIPT) },
  async serve({ client, jobs, request, parameters, bodyBytesMax }) {
    const isFed = parameters.choice('fed', ['true']) === 'true';
    // A job is fed over its stream.
    const streaming =
      parameters.choice('streaming', ['response', 'internal']) ?? (isFed ? 'response' : undefined);
    const job = jobs.of(parameters.inPath('exec'), parameters.text('group', 64), {
      streams: streaming !== undefined,
      isFed,
    });
    const options = submitOptions(parameters, request, streaming);
    const body = await readBody(request, bodyBytesMax);
    const handle: JobHandle<JobDefinition> =
      body.kind === 'value'
        ? await client.submit(job, body.value, options)
        : await client.submitStream(job, body.bytes, options);
    return json({ id: handle.id, ...handle.receipt }, 201);
  },
};

const inspect: Route = {
  method: 'get',
  path: '/api/jobs/{id}',
  role: 'read',
  followMs: 1_000,
  summary: 'The state of a job.',
  parameters: [JOB_ID],
  answers: { '200': jsonBody('The job.', JOB_VIEW) },
  async serve(call) {
    return json(shownJob(call.client, await handleOf(call).inspect({ signal: call.request.signal })));
  },
};

const list: Route = {
  method: 'get',
  path: '/api/jobs',
  role: 'read',
  summary: 'Jobs in one state, oldest first, page by page.',
  parameters: [
    {
      name: 'state',
      in: 'query',
      description: 'Their state; `queued` unless given.',
      schema: { enum: JOB_STATES },
    },
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
  async serve({ client, parameters, request }) {
    const state = parameters.choice('state', JOB_STATES) ?? 'queued';
    const max = parameters.count('max', 1, LIST_MAX) ?? 100;
    const after = parameters.count('after', 0, Number.MAX_SAFE_INTEGER) ?? 0;
    const views = await client.list(state, { after, max, signal: request.signal });
    const last = views.length < max ? undefined : views.at(-1)?.job;
    return json({ jobs: views.map((view) => shownJob(client, view)), next: last });
  },
};

const cancel: Route = {
  method: 'post',
  path: '/api/jobs/{id}/cancel',
  role: 'operate',
  summary: 'Cancels a job. A job that has ended stays as it is.',
  parameters: [JOB_ID],
  body: jsonBody('Why, for the handler and for people.', {
    type: 'object',
    properties: { reason: { type: 'string' } },
  }),
  answers: {
    '200': jsonBody('The state of the job.', { type: 'object', properties: { state: { enum: JOB_STATES } } }),
  },
  async serve(call) {
    const { reason = '' } = ((await readJson(call.request)) ?? {}) as { reason?: unknown };
    if (typeof reason !== 'string') throw badInput('reason: needed a text');
    const handle = handleOf(call);
    return json({ id: handle.id, state: await handle.cancel(reason, { signal: call.request.signal }) });
  },
};

export const JOB_ROUTES: readonly Route[] = [submit, list, inspect, cancel];

function submitOptions(
  parameters: RequestParameters,
  { headers, signal }: Request,
  streaming: 'response' | 'internal' | undefined,
): SubmitOptions {
  const tags = parameters.texts('tag', TAGS_MAX);
  const requires = parameters.texts('requires', LABELS_MAX);
  const traceparent = headers.get('traceparent');
  const tracestate = headers.get('tracestate') ?? undefined;
  return {
    key: parameters.text('key'),
    runAfterMs: parameters.duration('runAfter', YEAR_MS),
    streaming,
    tags: tags.length === 0 ? undefined : tags,
    priority: parameters.count('priority', 0, 9),
    orderKey: parameters.text('orderKey'),
    startWithinMs: parameters.duration('startWithin', YEAR_MS),
    requires: requires.length === 0 ? undefined : requires,
    trace: traceparent === null ? undefined : { traceparent, tracestate },
    signal,
  };
}

/** A handle on the job that the path names. */
export function handleOf({ client, jobs, parameters }: RouteCall): JobHandle<JobDefinition> {
  return client.open(jobs.any, parameters.inPath('id'));
}
