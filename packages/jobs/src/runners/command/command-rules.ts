import { isAbsolute, relative, resolve } from 'node:path';
import {
  callback,
  listOf,
  number,
  type OptionRule,
  options,
  rule,
  wholeNumber,
} from '@troupe/core/option-check';
import { RunnerRefusedError } from '../../jobs-error.js';
import { isText } from '../checked-schema.js';
import type { CommandInput } from './command-job.js';

/** A program that jobs may run. */
export interface AllowedCommand {
  /** Its absolute path: no search path is used. */
  readonly path: string;
  /** Whether these arguments are allowed. Default: all are. */
  readonly args?: ((args: readonly string[]) => boolean) | undefined;
}

export interface CommandRunnerOptions {
  /** The programs by the name in `argv[0]`: a path, or a path with a rule about arguments. */
  readonly allow: Readonly<Record<string, string | AllowedCommand>>;
  /** The folder of the programs; a job may name one below it. Default: the working folder of the worker. */
  readonly cwd?: string | undefined;
  /** Variables of the worker that programs get. Default: none; `PATH` and `LANG` are fixed. */
  readonly inheritEnv?: readonly string[] | undefined;
  /** Variables that a job may set. Default: none. */
  readonly jobEnv?: readonly string[] | undefined;
  /** Bytes of stdout and stderr together; beyond it the attempt fails. Default 67,108,864. */
  readonly outputBytesMax?: number | undefined;
  /** How long a program may go on after SIGTERM before its group gets SIGKILL. Default 5,000. */
  readonly graceMs?: number | undefined;
}

/** One program to start. */
export interface CommandPlan {
  readonly path: string;
  readonly args: readonly string[];
  /** To be resolved below `root`. */
  readonly cwd: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputBytesMax: number;
  readonly graceMs: number;
}

const absolutePath = rule('an absolute path', (value) => isText(value) && isAbsolute(value));
const allowedCommand = options({ path: absolutePath, args: callback }, ['path']);
const program: OptionRule = (value, option) =>
  isText(value) ? absolutePath(value, option) : allowedCommand(value, option);
const allowList: OptionRule = (value, option) => {
  if (typeof value !== 'object' || value === null)
    return { option, value, problem: 'needed programs by name' };
  for (const [name, one] of Object.entries(value)) {
    const problem = program(one, `${option}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
const variable = rule('the name of a variable', (value) => isText(value) && /^[A-Za-z_]\w*$/.test(value));

export const COMMAND_RULES = {
  allow: allowList,
  cwd: absolutePath,
  inheritEnv: listOf(variable),
  jobEnv: listOf(variable),
  outputBytesMax: wholeNumber(1),
  graceMs: number(0, 3_600_000),
};

const FIXED_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };

/** Throws RunnerRefusedError for what the worker does not allow. */
export function planCommand(
  given: CommandRunnerOptions,
  { argv, cwd = '.', env = {} }: CommandInput,
  worker: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): CommandPlan {
  const { allow, inheritEnv = [], jobEnv = [], outputBytesMax = 64 * 1024 * 1024, graceMs = 5_000 } = given;
  const [name = '', ...args] = argv;
  const found = Object.hasOwn(allow, name) ? allow[name] : undefined;
  if (found === undefined) throw new RunnerRefusedError(`command '${name}' is not on the worker's list`);
  const allowed: AllowedCommand = typeof found === 'string' ? { path: found } : found;
  if (allowed.args?.(args) === false)
    throw new RunnerRefusedError(`the worker does not allow these arguments of '${name}'`);
  const refused = Object.keys(env).find((one) => !jobEnv.includes(one));
  if (refused !== undefined) throw new RunnerRefusedError(`a job may not set the variable '${refused}'`);
  const root = given.cwd ?? worker.cwd;
  const inherited = inheritEnv.flatMap((one) =>
    worker.env[one] === undefined ? [] : [[one, worker.env[one]]],
  );
  return {
    path: allowed.path,
    args,
    root,
    cwd: resolve(root, cwd),
    env: { ...FIXED_ENV, ...(Object.fromEntries(inherited) as Record<string, string>), ...env },
    outputBytesMax,
    graceMs,
  };
}

/** Both are real paths, without links. */
export function mustBeBelow(root: string, cwd: string): void {
  const path = relative(root, cwd);
  if (path === '..' || path.startsWith('../') || isAbsolute(path))
    throw new RunnerRefusedError(`folder ${cwd} is not below ${root}`);
}
