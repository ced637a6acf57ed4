// The fields of records about schedules.
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { LedgerCorruptError } from '../../jobs-error.js';
import type {
  ScheduleDropRecord,
  ScheduleFireRecord,
  SchedulePauseRecord,
  ScheduleSetRecord,
  Submission,
} from '../ledger-record.js';
import { ruleText, type ScheduleRule } from '../schedules/schedule-rule.js';
import type { LedgerByteReader } from './ledger-byte-reader.js';

type ScheduleRecord = ScheduleSetRecord | ScheduleDropRecord | SchedulePauseRecord;

/** The flag of `schedule_pause`. */
const PAUSED = 1;

export function encodeScheduleFields(
  record: ScheduleRecord | ScheduleFireRecord,
  out: ByteWriter,
  encodeSubmission: (job: Submission, out: ByteWriter) => void,
): void {
  out.text(record.name);
  switch (record.type) {
    case 'schedule_set':
      out.text(record.client);
      out.int(record.policy);
      out.text(ruleText(record.rule));
      out.payload(record.payload);
      out.double(record.wallAt);
      return out.double(record.nextAt);
    case 'schedule_drop':
      return;
    case 'schedule_pause':
      out.byte(record.paused ? PAUSED : 0);
      return out.double(record.nextAt);
    case 'schedule_fire':
      out.double(record.slotAt);
      out.double(record.nextAt);
      out.double(record.wallAt);
      out.int(record.held);
      out.int(record.replaced);
      out.int(record.jobs.length);
      for (const job of record.jobs) encodeSubmission(job, out);
      return;
    default:
      return record satisfies never;
  }
}

export function decodeScheduleFields(
  type: ScheduleRecord['type'],
  at: number,
  read: LedgerByteReader,
): ScheduleRecord {
  const name = read.text();
  switch (type) {
    case 'schedule_set': {
      const head = { client: read.text(), policy: read.int(), rule: readRule(read), payload: read.payload() };
      return { type, at, name, ...head, wallAt: read.double(), nextAt: read.double() };
    }
    case 'schedule_drop':
      return { type, at, name };
    case 'schedule_pause':
      return { type, at, name, paused: (read.byte() & PAUSED) !== 0, nextAt: read.double() };
    default:
      return type satisfies never;
  }
}

export function decodeFireFields(
  at: number,
  read: LedgerByteReader,
  decodeSubmission: (read: LedgerByteReader) => Submission,
): ScheduleFireRecord {
  const head = { name: read.text(), slotAt: read.double(), nextAt: read.double(), wallAt: read.double() };
  const counts = { held: read.int(), replaced: read.int() };
  const jobs: Submission[] = [];
  for (let left = read.int(); left > 0; left -= 1) jobs.push(decodeSubmission(read));
  return { type: 'schedule_fire', at, ...head, ...counts, jobs };
}

/** The checksums of the log guarantee the bytes; a text of another version may have fields more. */
export function readRule(read: LedgerByteReader): ScheduleRule {
  const text = read.text();
  try {
    const rule: unknown = JSON.parse(text);
    if (typeof rule === 'object' && rule !== null) return rule as ScheduleRule;
  } catch (cause) {
    throw new LedgerCorruptError('a rule of a schedule is not JSON', { cause });
  }
  throw new LedgerCorruptError('a rule of a schedule is not an object');
}
