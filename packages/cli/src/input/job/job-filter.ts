import type { JobFilter, JobView } from '@troupe/jobs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { dateTime, duration, YEAR_MS } from '../option-parsers.js';

/** Flags that choose jobs. */
export interface FilterFlags {
  readonly state?: JobView['state'];
  readonly exec?: string;
  readonly group?: string;
  readonly tenant?: string;
  readonly client?: string;
  readonly idempotencyKey?: string;
  readonly orderKey?: string;
  readonly tag?: string;
  readonly since?: number;
  readonly until?: number;
  readonly error?: string;
  readonly fingerprint?: string;
}

const STATES: readonly JobView['state'][] = ['queued', 'running', 'dead', 'done', 'cancelled'];

export function withStateOption(command: Command): Command {
  return command.addOption(new Option('--state <state>', 'only jobs in this state').choices(STATES));
}

export function withFilterOptions(command: Command): Command {
  return command
    .option('--exec <name>', 'only jobs of this name')
    .option('--group <name>', 'only jobs of this group')
    .option('--tenant <identity>', 'only jobs of clients of this identity')
    .option('--client <name>', 'only jobs of this client: identity/name, or a name')
    .option('--idempotency-key <key>', 'only jobs with this key')
    .option('--order-key <key>', 'only queued, running and dead jobs with this order key')
    .option('--tag <text>', 'only jobs with this tag')
    .option('--since <time>', 'submitted then or later: 2026-11-18T10:00Z, or 2h ago', instant)
    .option('--until <time>', 'submitted before: the same forms', instant)
    .option('--error <text>', 'dead letters with this text in their last error')
    .option('--fingerprint <text>', 'dead letters of this group; see troupe dlq groups');
}

export function filterOf(flags: FilterFlags): JobFilter {
  const { state, exec, group, tenant, client, idempotencyKey: key, orderKey, tag } = flags;
  const { since, until, error, fingerprint } = flags;
  return { state, exec, group, tenant, client, key, orderKey, tag, since, until, error, fingerprint };
}

/** Whether any flag chooses. */
export function isFiltered(flags: FilterFlags): boolean {
  return Object.values(filterOf(flags)).some((value) => value !== undefined);
}

/** An instant, or a time before now. */
function instant(text: string): number {
  if (/^\d{4}-/.test(text)) return dateTime(text);
  if (/^\d/.test(text)) return Date.now() - duration(0, 100 * YEAR_MS)(text.replace(/ ago$/, ''));
  throw new InvalidArgumentError('It must be a date such as 2026-11-18T10:00Z, or a time ago such as 2h.');
}
