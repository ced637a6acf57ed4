import type { QueueLimits, QueueMode } from '../../job/queue-control.js';
import { MessageMalformedError } from '../../jobs-error.js';
import { isPlainName } from '../../option-check.js';
import type { AdminRequest } from '../../protocol/client/admin-messages.js';
import { BULK_JOBS_MAX } from '../../protocol/client/admin-messages.js';
import { readOperatorRequest, STATES } from './operator-codec.js';
import { text, whole } from './request-fields.js';

const MODES: readonly QueueMode[] = ['open', 'paused', 'draining'];

/** A request of a client or an operator, from outside: every field is checked, none is trusted. */
export function readAdminRequest(raw: Readonly<Record<string, unknown>>): AdminRequest {
  const request = readRequest(raw);
  if (raw['principal'] === undefined) return request;
  const principal = text(raw, 'principal');
  if (!isPlainName(principal)) throw new MessageMalformedError('request: principal is not a plain name');
  return { ...request, principal };
}

function readRequest(raw: Readonly<Record<string, unknown>>): AdminRequest {
  switch (raw['kind']) {
    case 'cancel':
      return { kind: 'cancel', job: whole(raw, 'job'), reason: text(raw, 'reason') };
    case 'inspect':
      return { kind: 'inspect', job: whole(raw, 'job') };
    case 'input':
      return { kind: 'input', job: whole(raw, 'job'), from: whole(raw, 'from'), max: whole(raw, 'max') };
    case 'find-key':
      return { kind: 'find-key', exec: text(raw, 'exec'), key: text(raw, 'key') };
    case 'overview':
      return { kind: 'overview' };
    case 'actors':
      return { kind: 'actors' };
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
    case 'release-keys':
      return { kind: 'release-keys', exec: text(raw, 'exec'), keys: keysOf(raw) };
    case 'queues':
      return { kind: 'queues' };
    case 'queue-limits':
      // The leader checks the limits, and refuses bad ones with their reason.
      return { kind: 'queue-limits', queue: text(raw, 'queue'), limits: raw['limits'] as QueueLimits };
    case 'queue-mode': {
      const mode = MODES.find((one) => one === raw['mode']);
      if (mode === undefined) throw new MessageMalformedError('request: mode is unknown');
      return { kind: 'queue-mode', queue: text(raw, 'queue'), mode };
    }
    case 'explain':
      return { kind: 'explain', job: whole(raw, 'job') };
    default:
      return readOperatorRequest(raw);
  }
}

function keysOf(raw: Readonly<Record<string, unknown>>): readonly string[] {
  const value = raw['keys'];
  const isList = Array.isArray(value) && value.length <= BULK_JOBS_MAX;
  if (!isList || !value.every((one) => typeof one === 'string'))
    throw new MessageMalformedError(`request: keys is not a list of at most ${BULK_JOBS_MAX} texts`);
  return value as readonly string[];
}

function numbers(raw: Readonly<Record<string, unknown>>, field: string): readonly number[] {
  const value = raw[field];
  const isList = Array.isArray(value) && value.length <= BULK_JOBS_MAX;
  if (!isList || !value.every((one) => typeof one === 'number' && Number.isSafeInteger(one)))
    throw new MessageMalformedError(`request: ${field} is not a list of at most ${BULK_JOBS_MAX} numbers`);
  return value as readonly number[];
}
