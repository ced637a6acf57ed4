import { MessageMalformedError } from '../../jobs-error.js';
import type { JobState } from '../../ledger/jobs/job.js';
import type { JobFilter, OperatorRequest } from '../../protocol/client/search-messages.js';
import { flag, object, text, whole } from './request-fields.js';
import { readScheduleRequest } from './schedule-codec.js';

type Raw = Readonly<Record<string, unknown>>;

export const STATES: readonly JobState[] = ['queued', 'running', 'done', 'dead', 'cancelled'];

/** A request of an operator, from outside: every field is checked. */
export function readOperatorRequest(raw: Raw): ReturnType<typeof readScheduleRequest> | OperatorRequest {
  switch (raw['kind']) {
    case 'search': {
      const filter = readFilter(object(raw, 'filter'));
      return { kind: 'search', filter, after: whole(raw, 'after'), max: whole(raw, 'max') };
    }
    case 'cancel-where': {
      const filter = readFilter(object(raw, 'filter'));
      const texts = { kind: 'cancel-where', filter, reason: text(raw, 'reason') } as const;
      return { ...texts, after: whole(raw, 'after'), max: whole(raw, 'max'), dryRun: flag(raw, 'dryRun') };
    }
    case 'dead-groups':
      return { kind: 'dead-groups', max: whole(raw, 'max'), ...given(raw, 'exec', text) };
    case 'redrive-edited': {
      const numbers = { job: whole(raw, 'job'), attempt: whole(raw, 'attempt') };
      return { kind: 'redrive-edited', ...numbers, payload: text(raw, 'payload') };
    }
    case 'audit':
      return { kind: 'audit', max: whole(raw, 'max'), ...given(raw, 'after', whole) };
    case 'clients':
      return { kind: 'clients' };
    case 'stats':
      return { kind: 'stats' };
    case 'worker-quiet':
      return { kind: 'worker-quiet', worker: text(raw, 'worker'), quiet: flag(raw, 'quiet') };
    case 'worker-stop':
      return { kind: 'worker-stop', worker: text(raw, 'worker'), withinMs: whole(raw, 'withinMs') };
    default:
      return readScheduleRequest(raw);
  }
}

const TEXTS = [
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

/** A field that this version does not know would be left out of the search: it is refused. */
function readFilter(raw: Raw): JobFilter {
  const known = [...TEXTS, 'state', 'since', 'until'] as const satisfies readonly (keyof JobFilter)[];
  const strange = Object.keys(raw).find((field) => !known.includes(field as keyof JobFilter));
  if (strange !== undefined) throw new MessageMalformedError(`request: filter has ${strange}`);
  const filter: Record<string, unknown> = {};
  for (const field of TEXTS) Object.assign(filter, given(raw, field, text));
  for (const field of ['since', 'until']) Object.assign(filter, given(raw, field, whole));
  if (raw['state'] === undefined) return filter;
  const state = STATES.find((one) => one === raw['state']);
  if (state === undefined) throw new MessageMalformedError('request: state is unknown');
  return { ...filter, state };
}

function given<T>(raw: Raw, field: string, read: (from: Raw, name: string) => T): Record<string, T> {
  return raw[field] === undefined ? {} : { [field]: read(raw, field) };
}
