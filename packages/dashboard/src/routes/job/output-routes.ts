import { JobCancelledError, JobFailedError, JobWaitError } from '@troupe/jobs';
import { json, jsonBody, type Route, type RouteBody, type RouteCall } from '../route.js';
import { ANY_VALUE, JOB_ID, WITHIN } from '../schemas.js';
import { handleOf } from './job-routes.js';
import { contentFile, shownContent } from './shown-content.js';

/** Proxies and browsers give up on requests that are longer. */
const WAIT_MS_MAX = 300_000;

const WITHOUT_OUTPUT: Readonly<Record<string, RouteBody>> = {
  '202': jsonBody('It has not ended yet.', {
    type: 'object',
    properties: { id: { type: 'string' }, state: { enum: ['queued', 'running'] } },
  }),
  '410': jsonBody('It was cancelled.', ANY_VALUE),
  '422': jsonBody('It failed and is a dead letter.', ANY_VALUE),
};

const result: Route = {
  method: 'get',
  path: '/api/jobs/{id}/result',
  role: 'read',
  summary: 'The output of a job, once there is one.',
  parameters: [JOB_ID, WITHIN],
  answers: {
    '200': jsonBody('The job is done. An output of bytes is `base64` in place of `output`.', {
      type: 'object',
      properties: {
        id: { type: 'string' },
        state: { const: 'done' },
        output: ANY_VALUE,
        base64: { type: 'string' },
      },
    }),
    ...WITHOUT_OUTPUT,
  },
  async serve(call) {
    const ended = await endOf(call);
    if (ended instanceof Response) return ended;
    if (ended.output instanceof Uint8Array) call.redaction.mustBeEmpty();
    return json({ id: ended.id, state: 'done', ...shownContent(call.redaction, 'output', ended.output) });
  },
};

const file: Route = {
  method: 'get',
  path: '/api/jobs/{id}/result/file',
  role: 'read',
  summary: 'The output of a job as a file.',
  parameters: [JOB_ID, WITHIN],
  answers: {
    '200': {
      description: 'The output alone.',
      content: { 'application/json': ANY_VALUE, 'application/octet-stream': { type: 'string' } },
    },
    ...WITHOUT_OUTPUT,
  },
  async serve(call) {
    const ended = await endOf(call);
    return ended instanceof Response
      ? ended
      : contentFile(call.redaction, `${ended.id}-output`, ended.output);
  },
};

export const OUTPUT_ROUTES: readonly Route[] = [result, file];

/** The output, or the answer that there is none. */
async function endOf(call: RouteCall): Promise<Response | { readonly id: string; readonly output: unknown }> {
  const handle = handleOf(call);
  const { id } = handle;
  const { signal } = call.request;
  const withinMs = call.parameters.duration('within', WAIT_MS_MAX) ?? 0;
  const { state } = await handle.inspect({ signal });
  const hasEnded = state !== 'queued' && state !== 'running';
  if (!hasEnded && withinMs === 0) return json({ id, state }, 202);
  try {
    // An ended job answers at once; the limit is for a leader that is away.
    return { id, output: await handle.result({ signal, withinMs: hasEnded ? WAIT_MS_MAX : withinMs }) };
  } catch (error) {
    if (error instanceof JobWaitError) return json({ id, state }, 202);
    return withoutOutput(id, error);
  }
}

/** The end of a job that has no output is an answer, not a problem of this request. */
function withoutOutput(id: string, error: unknown): Response {
  if (error instanceof JobFailedError) {
    const { code, reason, failure } = error;
    return json({ id, state: 'dead', code, reason, failure }, 422);
  }
  if (error instanceof JobCancelledError)
    return json({ id, state: 'cancelled', code: error.code, reason: error.message }, 410);
  throw error;
}
