import { MessageMalformedError } from '../jobs-error.js';
import type { JobState } from '../ledger/jobs/job.js';
import type { AdminRequest } from '../protocol/admin-messages.js';
import { BULK_JOBS_MAX } from '../protocol/admin-messages.js';

const STATES: readonly JobState[] = ['queued', 'running', 'done', 'dead', 'cancelled'];

/** A request of a client or an operator, from outside: every field is checked, none is trusted. */
export function readAdminRequest(raw: Readonly<Record<string, unknown>>): AdminRequest {
  switch (raw['kind']) {
    case 'cancel':
      return { kind: 'cancel', job: whole(raw, 'job'), reason: text(raw, 'reason') };
    case 'inspect':
      return { kind: 'inspect', job: whole(raw, 'job') };
    case 'find-key':
      return { kind: 'find-key', exec: text(raw, 'exec'), key: text(raw, 'key') };
    case 'overview':
      return { kind: 'overview' };
    case 'list': {
      const state = STATES.find((one) => one === raw['state']);
      if (state === undefined) throw new MessageMalformedError('request: state is unknown');
      return { kind: 'list', state, after: whole(raw, 'after'), max: whole(raw, 'max') };
    }
    case 'dead-attempts':
      return { kind: 'dead-attempts', jobs: numbers(raw, 'jobs') };
    case 'redrive':
    case 'purge': {
      const jobs = numbers(raw, 'jobs');
      if (raw['attempts'] === undefined) return { kind: raw['kind'], jobs };
      const attempts = numbers(raw, 'attempts');
      if (attempts.length !== jobs.length)
        throw new MessageMalformedError('request: attempts are not one for each job');
      return { kind: raw['kind'], jobs, attempts };
    }
    default:
      throw new MessageMalformedError('request: unknown kind');
  }
}

function whole(raw: Readonly<Record<string, unknown>>, field: string): number {
  const value = raw[field];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new MessageMalformedError(`request: ${field} is not a whole number`);
  return value;
}

function text(raw: Readonly<Record<string, unknown>>, field: string): string {
  const value = raw[field];
  if (typeof value !== 'string') throw new MessageMalformedError(`request: ${field} is not a text`);
  return value;
}

function numbers(raw: Readonly<Record<string, unknown>>, field: string): readonly number[] {
  const value = raw[field];
  const isList = Array.isArray(value) && value.length <= BULK_JOBS_MAX;
  if (!isList || !value.every((one) => typeof one === 'number' && Number.isSafeInteger(one)))
    throw new MessageMalformedError(`request: ${field} is not a list of at most ${BULK_JOBS_MAX} numbers`);
  return value as readonly number[];
}
