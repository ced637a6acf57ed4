import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineJob, type JobDefinition } from '@troupe/jobs';
import type { Command } from 'commander';
import { duration, wholeNumber, YEAR_MS } from '../option-parsers.js';
import { repeatable } from '../repeatable-option.js';

/** The command knows no schemas: values pass as they are, and the worker checks them. */
const ANY: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'troupe', validate: (value) => ({ value }) },
};

export interface JobFlags {
  readonly group?: string;
  readonly attempts?: number;
  readonly runWithin?: number;
  readonly lease?: number;
  readonly keep?: number;
  readonly priority?: number;
  readonly startWithin?: number;
  readonly require?: readonly string[];
  /** Its chunks are read. */
  readonly isStream?: boolean;
  /** Clients may feed it. */
  readonly isFed?: boolean;
}

export function withJobOptions(command: Command): Command {
  return command
    .option('--group <name>', 'group of the job; the first word of its name unless given')
    .option('--attempts <n>', 'failed attempts before the dead letters', wholeNumber(1, 1_000))
    .option('--run-within <time>', 'run time of one attempt', duration(1, YEAR_MS))
    .option(
      '--lease <time>',
      'silence of a worker after which the job is taken from it',
      duration(10, YEAR_MS),
    )
    .option('--keep <time>', 'how long the result can be read', duration(0, YEAR_MS))
    .option('--priority <n>', 'from 0 to 9; jobs of 9 begin first', wholeNumber(0, 9))
    .option('--start-within <time>', 'it must begin within so long', duration(1, YEAR_MS))
    .option('--require <label>', 'a label that its worker must have; may be given several times', repeatable);
}

export function untypedJob(exec: string, flags: JobFlags = {}): JobDefinition {
  const { group, attempts, runWithin, lease, keep, priority, startWithin, require: requires } = flags;
  return defineJob(exec, {
    input: ANY,
    output: ANY,
    priority,
    startWithinMs: startWithin,
    requires,
    ...(flags.isStream === true ? { chunk: ANY } : {}),
    ...(flags.isFed === true ? { feed: ANY } : {}),
    ...(group === undefined ? {} : { group }),
    ...(attempts === undefined ? {} : { retry: { attempts } }),
    ...(runWithin === undefined ? {} : { limits: { runMs: runWithin } }),
    ...(lease === undefined ? {} : { leaseMs: lease }),
    ...(keep === undefined ? {} : { keep: { doneMs: keep } }),
  });
}
