import type { JobDefinition, JobHandle } from '@troupe/jobs';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { atLeaderOfJob, withClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import { untypedJob } from '../../input/job/untyped-job.js';
import { jobLines, type ShownJob, shownJob } from '../../output/text/job-text.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

export interface ShowFlags extends RequestFlags, GroupFlags {
  readonly payload?: boolean;
}

/** A stand-in definition: an existing job is found by its id alone. */
const ANY_JOB = untypedJob('some.job');
const PAYLOAD_BYTES_MAX = 256 * 1024 * 1024;

export function addShow(program: Command, context: CommandContext): void {
  withPayloadOption(
    withGroupRequestOptions(subcommand(program, 'show <id>', 'show one job', 'troupe show 2qt6g-1')),
  ).action((id: string, flags: ShowFlags) => showJob(context, flags, id, () => undefined));
}

export function withPayloadOption(command: Command): Command {
  return command.option('--payload', 'print its payload alone: JSON, or base64 of bytes');
}

/** `check` throws for a job that is not to be shown. */
export async function showJob(
  context: CommandContext,
  flags: ShowFlags,
  id: string,
  check: (job: ShownJob) => void,
): Promise<void> {
  await atLeaderOfJob(flags, (one) =>
    withClient(context, one, async (client) => {
      const handle = client.open(ANY_JOB, id);
      const job = shownJob(id, await handle.inspect());
      check(job);
      if (flags.payload === true) await printPayload(context, flags, handle);
      else printResult(context, flags, job, jobLines(job));
    }),
  );
}

async function printPayload(
  context: CommandContext,
  flags: JsonFlag,
  job: JobHandle<JobDefinition>,
): Promise<void> {
  const { id } = job;
  const { bytes, kind, isKept } = await job.input({ bytesMax: PAYLOAD_BYTES_MAX });
  if (!isKept)
    throw new CliError(
      'ERR_CLI_PAYLOAD',
      ExitCode.noInput,
      `job ${id}: its payload is gone, as it has ended; see troupe await for its output`,
    );
  const content = Buffer.from(bytes);
  if (kind === 'bytes') {
    const payloadBase64 = content.toString('base64');
    return printResult(context, flags, { id, payloadBase64 }, [payloadBase64]);
  }
  const text = content.toString('utf8');
  const payload = parsed(text);
  if (payload === undefined) printResult(context, flags, { id, payloadText: text }, [text]);
  else printResult(context, flags, { id, payload }, [JSON.stringify(payload)]);
}

/** Undefined: no JSON. A large file is submitted as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
