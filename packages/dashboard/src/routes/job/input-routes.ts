import { isDeepStrictEqual } from 'node:util';
import type { JobInputView } from '@troupe/jobs';
import { badInput, HttpProblem } from '../../problem/http-problem.js';
import { readJson } from '../request-body.js';
import { json, jsonBody, type Route, type RouteCall } from '../route.js';
import { ANY_VALUE, JOB_ID } from '../schemas.js';
import { handleOf } from './job-routes.js';
import { fileHeaders } from './shown-content.js';

const SHOWN_BYTES = 65_536;
/** A larger input is not downloaded through the gateway. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

const input: Route = {
  method: 'get',
  path: '/api/jobs/{id}/input',
  role: 'read',
  summary: 'The input of a job that is queued, running or dead, up to a size.',
  parameters: [
    JOB_ID,
    { name: 'max', in: 'query', description: 'Bytes; 65536 unless given.', schema: { type: 'integer' } },
  ],
  answers: {
    '200': jsonBody('`value` if it is JSON and not cut, else its beginning as `text`.', {
      type: 'object',
      properties: {
        id: { type: 'string' },
        bytes: { type: 'integer', description: 'Of the whole input.' },
        kind: { enum: ['json', 'bytes'] },
        isCut: { type: 'boolean' },
        isRedacted: { type: 'boolean', description: 'Fields of `value` are hidden.' },
        value: ANY_VALUE,
        text: { type: 'string' },
      },
    }),
    '410': jsonBody('The job is done or cancelled: its input is not kept.', ANY_VALUE),
  },
  async serve(call) {
    const bytesMax = call.parameters.count('max', 1, WHOLE_BYTES_MAX) ?? SHOWN_BYTES;
    const view = await readInput(call, bytesMax);
    const isCut = view.bytes.length < view.total;
    const head = { id: call.parameters.inPath('id'), bytes: view.total, kind: view.kind, isCut };
    const value = isCut || view.kind === 'bytes' ? undefined : jsonOf(view.bytes);
    if (value !== undefined) {
      const shown = call.redaction.redact(value.value);
      return json({ ...head, isRedacted: !isDeepStrictEqual(shown, value.value), value: shown });
    }
    call.redaction.mustBeEmpty();
    return json({
      ...head,
      text: Buffer.from(view.bytes).toString(view.kind === 'bytes' ? 'latin1' : 'utf8'),
    });
  },
};

const download: Route = {
  method: 'get',
  path: '/api/jobs/{id}/input/file',
  role: 'read',
  summary: 'The whole input of a job as a file.',
  parameters: [JOB_ID],
  answers: {
    '200': {
      description: 'The input.',
      content: { 'application/json': ANY_VALUE, 'application/octet-stream': { type: 'string' } },
    },
    '410': jsonBody('The job is done or cancelled: its input is not kept.', ANY_VALUE),
  },
  async serve(call) {
    const { bytes, kind, total } = await readInput(call, WHOLE_BYTES_MAX);
    if (bytes.length < total)
      throw new HttpProblem(
        413,
        'ERR_HTTP_BODY_TOO_LARGE',
        `the input has ${total} bytes; read it by troupe show`,
      );
    const isBytes = kind === 'bytes';
    if (isBytes) call.redaction.mustBeEmpty();
    const body = call.redaction.isEmpty ? bytes : redactedBytes(call, bytes);
    return new Response(body, { headers: fileHeaders(`${call.parameters.inPath('id')}-input`, isBytes) });
  },
};

const feed: Route = {
  method: 'post',
  path: '/api/jobs/{id}/feed',
  role: 'submit',
  summary: 'Gives an item to a job that is fed, or ends its feed. Answers once the item is durable.',
  parameters: [JOB_ID],
  body: jsonBody('An item, the end of the feed, or both.', {
    type: 'object',
    properties: { item: ANY_VALUE, final: { type: 'boolean' } },
  }),
  answers: { '200': jsonBody('It is on the leader’s disk.', ANY_VALUE) },
  async serve(call) {
    const { item, final = false } = ((await readJson(call.request)) ?? {}) as {
      item?: unknown;
      final?: unknown;
    };
    if (typeof final !== 'boolean') throw badInput('final: needed true or false');
    if (item === undefined && !final) throw badInput('item: needed a value, or final: true');
    const handle = call.client.open(call.jobs.fed, call.parameters.inPath('id'));
    const { signal } = call.request;
    const receipt =
      item === undefined ? await handle.endFeed({ signal }) : await handle.feed(item, { signal, final });
    return json(receipt);
  },
};

export const INPUT_ROUTES: readonly Route[] = [input, download, feed];

async function readInput(call: RouteCall, bytesMax: number): Promise<JobInputView> {
  const view = await handleOf(call).input({ bytesMax, signal: call.request.signal });
  if (view.isKept) return view;
  throw new HttpProblem(410, 'ERR_HTTP_INPUT_GONE', 'the job is done or cancelled: its input is not kept');
}

function jsonOf(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function redactedBytes({ redaction }: RouteCall, bytes: Uint8Array): string {
  const parsed = jsonOf(bytes);
  if (parsed === undefined) redaction.mustBeEmpty();
  return JSON.stringify(redaction.redact(parsed?.value));
}
