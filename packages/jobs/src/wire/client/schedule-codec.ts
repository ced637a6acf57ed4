import { MessageMalformedError } from '../../jobs-error.js';
import type { ScheduleOverlap, ScheduleRule } from '../../ledger/schedules/schedule-rule.js';
import type { ScheduleRequest } from '../../protocol/client/schedule-messages.js';
import { readPolicyObject } from './policy-object.js';
import { flag, object, text, whole } from './request-fields.js';

/** A request about schedules, from outside. The leader checks the values of its rule. */
export function readScheduleRequest(raw: Readonly<Record<string, unknown>>): ScheduleRequest {
  switch (raw['kind']) {
    case 'schedule-set': {
      const policy = readPolicyObject(object(raw, 'policy'));
      if ('problem' in policy) throw new MessageMalformedError(`request: ${policy.problem}`);
      const rule = readRule(object(raw, 'rule'));
      return { kind: 'schedule-set', name: text(raw, 'name'), policy, payload: text(raw, 'payload'), rule };
    }
    case 'schedule-drop':
      return { kind: 'schedule-drop', name: text(raw, 'name') };
    case 'schedule-pause':
      return { kind: 'schedule-pause', name: text(raw, 'name'), paused: flag(raw, 'paused') };
    case 'schedule-run':
      return { kind: 'schedule-run', name: text(raw, 'name') };
    case 'schedules':
      return { kind: 'schedules', after: text(raw, 'after'), max: whole(raw, 'max') };
    default:
      throw new MessageMalformedError('request: unknown kind');
  }
}

function readRule(raw: Readonly<Record<string, unknown>>): ScheduleRule {
  const optional = <T>(field: string, read: (from: typeof raw, name: string) => T): Record<string, T> =>
    raw[field] === undefined ? {} : { [field]: read(raw, field) };
  return {
    ...optional('cron', text),
    ...optional('zone', text),
    ...optional('everyMs', whole),
    ...optional('fromAt', whole),
    ...optional('jitterMs', whole),
    overlap: text(raw, 'overlap') as ScheduleOverlap, // the leader refuses another word
    catchUpMax: whole(raw, 'catchUpMax'),
  };
}
