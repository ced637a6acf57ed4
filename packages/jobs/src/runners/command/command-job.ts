import { defineJob } from '../../job/definition/define-job.js';
import { checkedSchema, isText, isTextRecord } from '../checked-schema.js';

/** A program with its arguments. No shell reads them. */
export interface CommandInput {
  /** A name of the worker's allow-list, then the arguments. */
  readonly argv: readonly string[];
  /** Relative to the folder that the worker names. Default: that folder. */
  readonly cwd?: string | undefined;
  /** Variables that the worker lets jobs set. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A piece of output, or the end of the process, which comes last. */
export type CommandChunk =
  | { readonly from: 'stdout' | 'stderr'; readonly text: string }
  | { readonly from: 'exit'; readonly exitCode: number | null; readonly signal: string | null };

export interface CommandOutput {
  /** The last 256 Ki characters. */
  readonly stdout: string;
  /** The same of the other stream. */
  readonly stderr: string;
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it; null: none. */
  readonly signal: string | null;
  /** Earlier characters of `stdout` or `stderr` are left out. */
  readonly isTruncated: boolean;
}

const ARGS_MAX = 1_024;
const ARG_CHARS_MAX = 65_536;
/** Of each stream. */
const COLLECTED_CHARS_MAX = 256 * 1024;
const NOTHING: CommandOutput = { stdout: '', stderr: '', exitCode: null, signal: null, isTruncated: false };

/** Runs a program of the worker's list: output as chunks, stdin by the feed, the exit code in the output. */
export const command = defineJob('command.run', {
  input: checkedSchema<CommandInput>(inputProblem),
  output: checkedSchema<CommandOutput>((value) =>
    typeof (value as CommandOutput | null)?.stdout === 'string' ? undefined : 'not the output of a command',
  ),
  chunk: checkedSchema<CommandChunk>((value) =>
    typeof (value as CommandChunk | null)?.from === 'string' ? undefined : 'not a piece of output',
  ),
  feed: checkedSchema<string>((value) => (isText(value) ? undefined : 'not a text')),
  collect: collectOutput,
  limits: { outputBytes: 4 * 1024 * 1024 },
});

function inputProblem(value: unknown): string | undefined {
  const { argv, cwd, env } = (value ?? {}) as Partial<Record<keyof CommandInput, unknown>>;
  if (!Array.isArray(argv) || argv.length === 0 || argv.length > ARGS_MAX || !argv.every(isText))
    return `argv is not a list of 1 to ${ARGS_MAX} texts`;
  const chars = argv.reduce((sum: number, { length }: string) => sum + length, 0);
  if (chars > ARG_CHARS_MAX || argv.some((one: string) => one.includes('\0')))
    return `argv has more than ${ARG_CHARS_MAX} characters, or a NUL`;
  if (cwd !== undefined && (!isText(cwd) || cwd.includes('\0'))) return 'cwd is not a path';
  if (env !== undefined && !isTextRecord(env)) return 'env is not an object of texts';
  return undefined;
}

function collectOutput(collected: CommandOutput = NOTHING, chunk: CommandChunk): CommandOutput {
  if (chunk.from === 'exit') {
    const { exitCode, signal } = chunk;
    return { ...last(collected, COLLECTED_CHARS_MAX), exitCode, signal };
  }
  const joined = { ...collected, [chunk.from]: collected[chunk.from] + chunk.text };
  // Cut now and then: a cut per chunk would copy what it keeps each time.
  return joined[chunk.from].length > 2 * COLLECTED_CHARS_MAX ? last(joined, COLLECTED_CHARS_MAX) : joined;
}

function last(output: CommandOutput, charsMax: number): CommandOutput {
  const { stdout, stderr } = output;
  const isTruncated = output.isTruncated || stdout.length > charsMax || stderr.length > charsMax;
  return { ...output, stdout: stdout.slice(-charsMax), stderr: stderr.slice(-charsMax), isTruncated };
}
