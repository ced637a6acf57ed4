import type { JsonSchema, RouteParameter } from './route.js';

export const ANY_VALUE: JsonSchema = {};
export const JOB_STATES = ['queued', 'running', 'done', 'dead', 'cancelled'] as const;

export const JOB_ID: RouteParameter = {
  name: 'id',
  in: 'path',
  description: 'The id of a job, as its submit has answered.',
  schema: { type: 'string', examples: ['42xlt-ak8'] },
};

export const JOB_VIEW: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    exec: { type: 'string' },
    group: { type: 'string' },
    client: { type: 'string' },
    state: { enum: JOB_STATES },
    attempt: { type: 'integer' },
    failures: { type: 'integer' },
    crashes: { type: 'integer' },
    submittedAt: { type: 'number', description: 'Milliseconds since 1970.' },
    dueAt: { type: 'number' },
    endedAt: { type: 'number' },
    worker: { type: 'string' },
    reason: { type: 'string' },
    failure: ANY_VALUE,
    payloadBytes: { type: 'integer' },
    key: { type: 'string' },
    orderKey: { type: 'string', description: 'Unless it is done or cancelled.' },
    priority: { type: 'integer', description: 'From 0 to 9; absent: 4.' },
    tags: { type: 'array', items: { type: 'string' } },
    progress: ANY_VALUE,
    feed: ANY_VALUE,
    attempts: { type: 'array', description: 'Of one job: those that ended, where one of them failed.' },
    startedAt: { type: 'number', description: 'Of the running attempt.' },
  },
};

export const WITHIN: RouteParameter = {
  name: 'within',
  in: 'query',
  description: 'How long to wait: `500ms`, `30s`, `2m`. Without it the answer comes at once.',
  schema: { type: 'string', examples: ['30s'] },
};
