// Schedules in a snapshot, in the order in which they were first set.
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { LedgerCorruptError } from '../../jobs-error.js';
import type { Ledger } from '../ledger.js';
import { ruleText } from '../schedules/schedule-rule.js';
import type { StoredSchedule } from '../schedules/schedule-table.js';
import type { LedgerByteReader } from './ledger-byte-reader.js';
import { readRule } from './schedule-fields.js';

export function encodeSchedule({ name, template, ...plan }: StoredSchedule, out: ByteWriter): void {
  out.text(name);
  out.text(template.client);
  out.int(template.policy.no);
  out.text(ruleText(template.rule));
  out.payload(template.payload);
  for (const instant of [plan.nextAt, plan.lastAt, plan.lastWallAt]) out.double(instant);
  for (const count of [plan.lastJob, plan.runs, plan.skipped, plan.held, plan.paused]) out.int(count);
}

/** The runs of one schedule before its latest one. */
export function encodeEarlierRuns(
  [schedule, jobs]: readonly [string, readonly number[]],
  out: ByteWriter,
): void {
  out.text(schedule);
  out.int(jobs.length);
  for (const job of jobs) out.int(job);
}

export function decodeEarlierRuns(ledger: Ledger, read: LedgerByteReader): void {
  const schedule = read.text();
  const jobs: number[] = [];
  for (let left = read.int(); left > 0; left -= 1) jobs.push(read.int());
  ledger.earlierRuns.restore(schedule, jobs);
}

export function decodeSchedule(ledger: Ledger, read: LedgerByteReader): void {
  const name = read.text();
  const client = read.text();
  const policy = ledger.policies.get(read.int());
  if (policy === undefined) throw new LedgerCorruptError(`snapshot: schedule ${name} has no policy`);
  const template = { client, policy, rule: readRule(read), payload: read.payload() };
  const [nextAt, lastAt, lastWallAt] = [read.double(), read.double(), read.double()];
  const [lastJob, runs, skipped] = [read.int(), read.int(), read.int()];
  const plan = { nextAt, lastAt, lastWallAt, lastJob, runs, skipped };
  ledger.schedules.set(name, template, { ...plan, held: read.int(), paused: read.int() });
}
