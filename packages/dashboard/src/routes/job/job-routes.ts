import {
  JobCancelledError,
  type JobDefinition,
  JobFailedError,
  type JobHandle,
  JobWaitError,
} from '@troupe/jobs';
import { badInput } from '../../problem/http-problem.js';
import { readBody, readJson } from '../request-body.js';
import { json, jsonBody, type Route, type RouteCall } from '../route.js';
import { ANY_VALUE, JOB_ID, JOB_STATES, JOB_VIEW, WITHIN } from '../schemas.js';
import { shownJob } from './job-view.js';

const YEAR_MS = 366 * 24 * 3_600_000;
/** Proxies and browsers give up on requests that are longer. */
const WAIT_MS_MAX = 300_000;
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
    { name: 'fed', in: 'query', description: 'It takes items while it runs.', schema: { enum: ['true'] } },
  ],
  body: jsonBody('The input of the job as JSON. A large one is streamed to the leader.', ANY_VALUE),
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
    const options = {
      key: parameters.text('key'),
      runAfterMs: parameters.duration('runAfter', YEAR_MS),
      streaming,
      signal: request.signal,
    };
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

const result: Route = {
  method: 'get',
  path: '/api/jobs/{id}/result',
  role: 'read',
  summary: 'The output of a job, once there is one.',
  parameters: [JOB_ID, WITHIN],
  answers: {
    '200': jsonBody('The job is done.', {
      type: 'object',
      properties: { id: { type: 'string' }, state: { const: 'done' }, output: ANY_VALUE },
    }),
    '202': jsonBody('It has not ended yet.', {
      type: 'object',
      properties: { id: { type: 'string' }, state: { enum: ['queued', 'running'] } },
    }),
    '410': jsonBody('It was cancelled.', ANY_VALUE),
    '422': jsonBody('It failed and is a dead letter.', ANY_VALUE),
  },
  async serve(call) {
    const handle = handleOf(call);
    const { signal } = call.request;
    const withinMs = call.parameters.duration('within', WAIT_MS_MAX) ?? 0;
    const { state } = await handle.inspect({ signal });
    const hasEnded = state !== 'queued' && state !== 'running';
    if (!hasEnded && withinMs === 0) return json({ id: handle.id, state }, 202);
    try {
      // An ended job answers at once; the limit is for a leader that is away.
      const output = await handle.result({ signal, withinMs: hasEnded ? WAIT_MS_MAX : withinMs });
      return json({ id: handle.id, state: 'done', output: call.redaction.redact(output) });
    } catch (error) {
      if (error instanceof JobWaitError) return json({ id: handle.id, state }, 202);
      return ended(handle.id, error);
    }
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

export const JOB_ROUTES: readonly Route[] = [submit, list, inspect, result, cancel];

/** A handle on the job that the path names. */
export function handleOf({ client, jobs, parameters }: RouteCall): JobHandle<JobDefinition> {
  return client.open(jobs.any, parameters.inPath('id'));
}

/** The end of a job that has no output is an answer, not a problem of this request. */
function ended(id: string, error: unknown): Response {
  if (error instanceof JobFailedError) {
    const { code, reason, failure } = error;
    return json({ id, state: 'dead', code, reason, failure }, 422);
  }
  if (error instanceof JobCancelledError)
    return json({ id, state: 'cancelled', code: error.code, reason: error.message }, 410);
  throw error;
}
