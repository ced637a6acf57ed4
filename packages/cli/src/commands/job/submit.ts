import { stat } from 'node:fs/promises';
import type { Client, JobDefinition, JobHandle, SubmitOptions, WaitOptions } from '@troupe/jobs';
import type { Net } from '@troupe/transport';
import { type Command, Option } from 'commander';
import { CliError } from '../../cli-error.js';
import { withWaitingClient } from '../../command-client.js';
import { ExitCode } from '../../exit-code.js';
import type { CommandDeadline } from '../../input/connection/command-deadline.js';
import type { RequestFlags } from '../../input/connection/connection-options.js';
import { type GroupFlags, ofGroup, withGroupRequestOptions } from '../../input/connection/group-leaders.js';
import {
  jsonOfText,
  largeFile,
  type PayloadFlags,
  readPayload,
  readPayloadLines,
} from '../../input/job/payload-input.js';
import { type JobFlags, untypedJob, withJobOptions } from '../../input/job/untyped-job.js';
import { dateTime, duration, TIMER_MS_MAX, YEAR_MS } from '../../input/option-parsers.js';
import { repeatable } from '../../input/repeatable-option.js';
import { OrderedReceipts } from '../../output/ordered-receipts.js';
import { byteCountingNet } from '../../output/progress/byte-counting-net.js';
import { ProgressBar } from '../../output/progress/progress-bar.js';
import { escapeControlCharacters } from '../../output/text/escape-control-characters.js';
import { reasonText } from '../../output/text/explanation-text.js';
import { type CommandContext, printResult, subcommand } from '../../subcommand.js';
import { printStream } from './print-stream.js';

interface Flags extends RequestFlags, GroupFlags, JobFlags, PayloadFlags {
  readonly idempotencyKey?: string;
  readonly delay?: number;
  readonly runAt?: number;
  readonly orderKey?: string;
  readonly tag?: readonly string[];
  readonly lines?: boolean;
  readonly resultWithin?: number;
  readonly stream?: boolean;
  readonly fed?: boolean;
}

function withSubmitOptions(command: Command): Command {
  return withJobOptions(withGroupRequestOptions(command))
    .option('-f, --file <path>', 'payload from a file; - is standard input')
    .option('-t, --text', 'the payload is text, not JSON')
    .option('--idempotency-key <key>', 'the same key is the same job, for a day')
    .option('--delay <time>', 'not before so long', duration(0, YEAR_MS))
    .addOption(
      new Option('--run-at <date>', "not before 2026-11-18T10:00Z, by the leader's clock")
        .argParser(dateTime)
        .conflicts('delay'),
    )
    .option('--order-key <key>', 'jobs of one key run in their order')
    .option('--tag <text>', 'a text to find it by; may be given several times', repeatable);
}

export function addSubmit(program: Command, context: CommandContext): void {
  withSubmitOptions(
    subcommand(
      program,
      'submit <exec> [payload]',
      'submit a job and print its id once it is on the disk',
      `troupe submit mail.send '{"to":"ann@example.org"}'`,
      'With --lines every line is a job, and ids are printed as they come.',
    ),
  )
    .option('--lines', 'every line of the file or of standard input is the payload of one job')
    .option('--stream', 'troupe await --stream can print the chunks of the job')
    .option('--fed', 'with --stream: the job is fed by troupe feed')
    .action((exec: string, payload: string | undefined, flags: Flags) =>
      flags.lines === true
        ? submitLines(context, exec, payload, flags)
        : submitOne(context, exec, payload, flags),
    );
}

export function addRun(program: Command, context: CommandContext): void {
  withSubmitOptions(
    subcommand(
      program,
      'run <exec> [payload]',
      'submit a job and wait for its output',
      "troupe run math.add '[1, 2]'",
      'After a second it prints why the job has not begun, as troupe explain does.',
    ),
  )
    .option(
      '--result-within <time>',
      'give up waiting after so long; the job goes on',
      duration(1, TIMER_MS_MAX),
    )
    .option('--stream', 'print the chunks as they come instead of the output')
    .option('--fed', 'with --stream: the job is fed by troupe feed')
    .action((exec: string, payload: string | undefined, flags: Flags) =>
      flags.stream === true
        ? streamOne(context, exec, payload, flags)
        : runOne(context, exec, payload, flags),
    );
}

export function addStream(program: Command, context: CommandContext): void {
  withSubmitOptions(
    subcommand(
      program,
      'stream <exec> [payload]',
      'submit a job and print its chunks as they come',
      "troupe stream llm.complete 'once upon a time' --text",
      'Texts are printed as they are, other values as lines of JSON; the id, a new attempt and a gap go to standard error. Exit codes as of run.',
    ),
  )
    .option('--fed', 'the job is fed by troupe feed, with the id on standard error')
    .action((exec: string, payload: string | undefined, flags: Flags) =>
      streamOne(context, exec, payload, flags),
    );
}

/** The id goes to standard error: a reader of the chunks needs it to feed or cancel the job. */
async function streamOne(
  context: CommandContext,
  exec: string,
  argument: string | undefined,
  flags: Flags,
): Promise<void> {
  const streamed = { ...flags, stream: true };
  await withSubmitted(context, exec, argument, streamed, async (handle, deadline, client) => {
    const notice = waitNotice(context, client, handle);
    context.terminal.err(`troupe: job ${handle.id}`);
    try {
      await printStream(context, flags, handle, deadline.left(flags.resultWithin));
    } finally {
      clearTimeout(notice);
    }
  });
}

async function submitOne(
  context: CommandContext,
  exec: string,
  argument: string | undefined,
  flags: Flags,
): Promise<void> {
  await withSubmitted(context, exec, argument, flags, async (handle) => printReceipt(context, flags, handle));
}

async function runOne(
  context: CommandContext,
  exec: string,
  argument: string | undefined,
  flags: Flags,
): Promise<void> {
  await withSubmitted(context, exec, argument, flags, async (handle, deadline, client) => {
    const notice = waitNotice(context, client, handle);
    try {
      const output = await handle.result(deadline.left(flags.resultWithin));
      printResult(context, flags, { id: handle.id, output }, [JSON.stringify(output)]);
    } finally {
      clearTimeout(notice);
    }
  });
}

const NOTICE_AFTER_MS = 1_000;

/** Prints, after a second, why the job still waits. A wait without a word looks like a hang. */
function waitNotice(
  { terminal }: CommandContext,
  client: Client,
  { id }: JobHandle<JobDefinition>,
): NodeJS.Timeout {
  const print = async (): Promise<void> => {
    const { reasons } = await client.explain(id, { withinMs: NOTICE_AFTER_MS });
    // A delay was asked for, or is that of a retry.
    if (reasons.length === 0 || reasons.some(({ kind }) => kind === 'delayed')) return;
    const why = reasons.map((reason) => reasonText(reason, (job) => client.idOf(job)));
    terminal.err(escapeControlCharacters(`troupe: job ${id} waits: ${why.join('; ')}`));
  };
  // The command itself prints that the leader is away.
  return setTimeout(() => void print().catch(() => undefined), NOTICE_AFTER_MS);
}

async function withSubmitted(
  context: CommandContext,
  exec: string,
  argument: string | undefined,
  flags: Flags,
  use: (handle: JobHandle<JobDefinition>, deadline: CommandDeadline, client: Client) => Promise<void>,
): Promise<void> {
  const { submit, file } = await prepared(exec, argument, flags);
  const upload = await uploadBar(context, exec, file);
  await withWaitingClient(
    context,
    ofGroup(flags, jobOf(exec, flags).policy.group),
    async (client, deadline) =>
      use(await submit(client, deadline.left()).finally(() => upload.end()), deadline, client),
    upload,
  );
}

type Submit = (client: Client, wait: WaitOptions) => Promise<JobHandle<JobDefinition>>;

interface Prepared {
  readonly submit: Submit;
  /** A file that is read while it is written to the leader. */
  readonly file: string | undefined;
}

/**
 * A large file is read while it is written to the leader; any other payload before the connection is made, so
 * that a bad payload is reported first.
 */
async function prepared(exec: string, argument: string | undefined, flags: Flags): Promise<Prepared> {
  const job = jobOf(exec, flags);
  const options = optionsOf(flags);
  const file = await largeFile(argument, flags);
  if (file === undefined) {
    const payload = await readPayload(argument, flags);
    return { submit: (client, wait) => client.submit(job, payload, { ...options, ...wait }), file };
  }
  const submit: Submit =
    flags.text === true
      ? (client, wait) => client.submitStream(job, jsonOfText(file), { ...options, ...wait })
      : (client, wait) => client.submitFile(job, file, { ...options, ...wait });
  return { submit, file };
}

/** A progress bar for the bytes of a large file. */
async function uploadBar(
  { terminal }: CommandContext,
  exec: string,
  file: string | undefined,
): Promise<{ readonly net?: Net; end(): void }> {
  if (file === undefined || !terminal.isInteractive) return { end: () => undefined };
  const totalKiB = Math.ceil((await stat(file)).size / 1024);
  const bar = new ProgressBar(terminal, `${exec}, KiB`, totalKiB);
  const net = byteCountingNet((bytes) => bar.at(Math.min(totalKiB, Math.ceil(bytes / 1024))));
  return { net, end: () => bar.end() };
}

/** Prints ids in the order of the lines. A bad line ends the command after the ids of the lines before it. */
async function submitLines(
  context: CommandContext,
  exec: string,
  argument: string | undefined,
  flags: Flags,
): Promise<void> {
  if (argument !== undefined)
    throw new CliError(
      'ERR_CLI_USAGE',
      ExitCode.usage,
      'submit --lines: takes no payload argument; use --file',
    );
  if (flags.idempotencyKey !== undefined)
    throw new CliError(
      'ERR_CLI_USAGE',
      ExitCode.usage,
      'submit --lines: one --idempotency-key would make one job of all lines; leave it out',
    );
  const job = jobOf(exec, flags);
  const options = optionsOf(flags);
  await withWaitingClient(context, ofGroup(flags, job.policy.group), async (client, deadline) => {
    const bar = new ProgressBar(context.terminal, exec, 0);
    let read = 0;
    const receipts = new OrderedReceipts((handle) => {
      printReceipt(context, flags, handle);
      bar.at(receipts.count + 1, read);
    });
    try {
      for await (const payload of readPayloadLines(flags)) {
        read += 1;
        await receipts.add(client.submit(job, payload, { ...options, ...deadline.left() }));
      }
    } finally {
      await receipts.end();
      bar.end();
    }
  });
}

function printReceipt(context: CommandContext, flags: Flags, handle: JobHandle<JobDefinition>): void {
  printResult(context, flags, { id: handle.id, ...handle.receipt }, [handle.id]);
}

function jobOf(exec: string, flags: Flags): JobDefinition {
  const { stream: isStream = false, fed: isFed = false } = flags;
  if (isFed && !isStream)
    throw new CliError('ERR_CLI_USAGE', ExitCode.usage, '--fed: needs --stream; a fed job streams');
  return untypedJob(exec, { ...flags, isStream, isFed });
}

function optionsOf(flags: Flags): SubmitOptions {
  const { idempotencyKey, delay, runAt, orderKey, tag: tags } = flags;
  return {
    orderKey,
    tags,
    runAt,
    ...(flags.stream === true ? { streaming: 'response' } : {}),
    ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
    ...(delay === undefined ? {} : { runAfterMs: delay }),
  };
}
