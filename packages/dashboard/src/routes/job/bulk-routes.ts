import type { Client, JobFilter } from '@troupe/jobs';
import { badInput } from '../../problem/http-problem.js';
import { readJson } from '../request-body.js';
import { json, jsonBody, type Route } from '../route.js';

interface BulkBody {
  readonly filter: JobFilter;
  readonly dryRun: boolean;
  readonly max?: number;
  readonly reason?: string;
  readonly perSecond?: number;
}

type Report = Awaited<ReturnType<Client['redriveWhere' | 'cancelWhere']>>;

const INTEGER = { type: 'integer' };

/** Without `dryRun: false` nothing is changed. */
function bulk(
  path: string,
  summary: string,
  field: string,
  more: Readonly<Record<string, object>>,
  run: (client: Client, body: BulkBody, signal: AbortSignal) => Promise<Report>,
): Route {
  const properties = { filter: { type: 'object' }, dryRun: { type: 'boolean' }, max: INTEGER, ...more };
  return {
    method: 'post',
    path,
    role: 'operate',
    summary,
    body: jsonBody(
      `Fields of a search; \`dryRun\`, true unless given; ${['max', ...Object.keys(more)].join(', ')}.`,
      { type: 'object', required: ['filter'], properties },
    ),
    answers: {
      '200': jsonBody(`How many fitted, and how many were ${field}.`, {
        type: 'object',
        properties: { matched: INTEGER, [field]: INTEGER },
      }),
    },
    async serve({ client, request }) {
      const body = ((await readJson(request)) ?? {}) as Partial<BulkBody>; // the client checks the fields
      const { filter, dryRun = true } = body;
      if (typeof filter !== 'object' || filter === null || Object.keys(filter).length === 0)
        throw badInput('filter: needed at least one field, so that not everything is changed by mistake');
      return json(await run(client, { ...body, filter, dryRun }, request.signal));
    },
  };
}

/** Changes of all jobs of a search, each with a dry run that counts them. */
export const BULK_ROUTES: readonly Route[] = [
  bulk(
    '/api/dead-letters/redrive-where',
    'Puts the dead letters that fit back into their queues, or counts them.',
    'redriven',
    { perSecond: { type: 'number' } },
    (client, { filter, dryRun, max, perSecond }, signal) =>
      client.redriveWhere(filter, { dryRun, max, perSecond, signal }),
  ),
  bulk(
    '/api/jobs/cancel-where',
    'Cancels the queued and running jobs that fit, or counts them.',
    'cancelled',
    { reason: { type: 'string' } },
    (client, { filter, dryRun, max, reason }, signal) =>
      client.cancelWhere(filter, { dryRun, max, reason, signal }),
  ),
];
