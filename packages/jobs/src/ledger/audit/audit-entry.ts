import { jobId } from '../../job/job-id.js';
import type { LedgerRecord } from '../ledger-record.js';
import { ruleText } from '../schedules/schedule-rule.js';
import type { AuditEntry } from './audit-trail.js';

/** Ids that an entry names. */
const NAMED_JOBS = 10;

/** The act that a record is; undefined: no client has requested it, or its name was not recorded. */
export function auditEntryOf(record: LedgerRecord, tag: string): Omit<AuditEntry, 'no'> | undefined {
  const { at } = record;
  if (record.type === 'schedule_set')
    return {
      at,
      by: record.by ?? record.client,
      action: 'schedule-set',
      target: record.name,
      detail: ruleText(record.rule),
    };
  if (!('by' in record) || record.by === undefined) return undefined;
  const { by } = record;
  switch (record.type) {
    case 'cancel':
      return { at, by, action: 'cancel', target: jobId(tag, record.job), detail: record.reason };
    case 'redrive':
    case 'purge': {
      const ids = record.jobs.slice(0, NAMED_JOBS).map((job) => jobId(tag, job));
      const target = record.jobs.length === 1 ? (ids[0] ?? '') : `${record.jobs.length} jobs`;
      return { at, by, action: record.type, target, detail: ids.join(' ') };
    }
    case 'redrive_edited':
      return {
        at,
        by,
        action: 'redrive-edited',
        target: jobId(tag, record.job),
        detail: `input of ${record.payload.length} bytes`,
      };
    case 'schedule_drop':
      return { at, by, action: 'schedule-drop', target: record.name, detail: '' };
    case 'schedule_pause':
      return {
        at,
        by,
        action: record.paused ? 'schedule-pause' : 'schedule-resume',
        target: record.name,
        detail: '',
      };
    case 'schedule_fire': {
      const [job] = record.jobs;
      return {
        at,
        by,
        action: 'schedule-run',
        target: record.name,
        detail: job === undefined ? '' : jobId(tag, job.job),
      };
    }
    case 'worker_quiet':
      return {
        at,
        by,
        action: record.quiet ? 'worker-quiet' : 'worker-resume',
        target: record.worker,
        detail: '',
      };
    case 'queue_limits':
      return { at, by, action: 'queue-limits', target: record.queue, detail: JSON.stringify(record.limits) };
    case 'queue_mode':
      return { at, by, action: `queue-${record.mode}`, target: record.queue, detail: '' };
    case 'audit':
      return { at, by, action: record.action, target: record.target, detail: record.detail };
    default:
      return record satisfies never;
  }
}
