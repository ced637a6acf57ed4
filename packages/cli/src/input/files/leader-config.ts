import { readFileSync } from 'node:fs';
import type { LeaderServerOptions } from '@troupe/jobs';
import { transportLimits } from '@troupe/transport';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

/** The options of `startLeader` that a file can hold. Keys and certificates are files of their own. */
const KEYS = [
  'dir',
  'address',
  'profile',
  'insecure',
  'compress',
  'limits',
  'times',
  'labels',
  'transportLimits',
  'wal',
] as const satisfies readonly (keyof LeaderServerOptions)[];

export type LeaderConfig = Pick<LeaderServerOptions, (typeof KEYS)[number]>;

/** Reads `--config`. An unknown key is refused; the values are checked by `startLeader`. */
export function readLeaderConfig(path: string): LeaderConfig {
  const value = parse(path, readFileSync(path, 'utf8'));
  refuseUnknown(path, '', value, KEYS);
  const { transportLimits: limits } = value as LeaderConfig;
  if (isObject(limits))
    refuseUnknown(path, 'transportLimits.', limits, Object.keys(transportLimits('trusted')));
  return value as LeaderConfig;
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw problem(path, `not JSON (${cause.message})`, { cause });
  }
  if (isObject(value)) return value;
  throw problem(path, 'not an object; its keys are the options of startLeader');
}

function refuseUnknown(path: string, prefix: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw problem(path, `${prefix}${unknown}: there is no such option; known are ${known.join(', ')}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problem(path: string, what: string, options?: ErrorOptions): CliError {
  return new CliError('ERR_CLI_CONFIG', ExitCode.config, `config ${path}: ${what}`, options);
}
