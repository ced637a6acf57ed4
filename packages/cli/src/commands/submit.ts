import { stat } from 'node:fs/promises';
import type { Client, JobDefinition, JobHandle, SubmitOptions, WaitOptions } from '@troupe/jobs';
import type { Net } from '@troupe/transport';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';
import type { Deadline } from '../input/deadline.js';
import { type AskFlags, withAsk, withPatience } from '../input/leader-options.js';
import { TIMER_MS_MAX, wholeNumber, YEAR_MS } from '../input/number-option.js';
import {
  jsonOfText,
  largeFile,
  type PayloadFlags,
  readPayload,
  readPayloadLines,
} from '../input/payload-input.js';
import { type JobFlags, plainJob, withJobOptions } from '../input/untyped-job.js';
import { ReceiptLine } from '../output/ordered-receipts.js';
import { ProgressBar } from '../output/progress-bar.js';
import { watchedNet } from '../output/watched-net.js';
import { print, type Tools, verb } from '../verb.js';

interface Flags extends AskFlags, JobFlags, PayloadFlags {
  readonly idempotencyKey?: string;
  readonly delay?: number;
  readonly lines?: boolean;
  readonly resultWithin?: number;
}

function withSubmitOptions(command: Command): Command {
  return withJobOptions(withAsk(command))
    .option('-f, --file <path>', 'payload from a file; - is standard input')
    .option('-t, --text', 'the payload is text, not JSON')
    .option('--idempotency-key <key>', 'the same key is the same job, for a day')
    .option('--delay <ms>', 'not before so long', wholeNumber(0, YEAR_MS));
}

export function addSubmit(program: Command, tools: Tools): void {
  withSubmitOptions(
    verb(
      program,
      'submit <exec> [payload]',
      'submit a job and print its id once it is on the disk',
      `troupe submit mail.send '{"to":"ann@example.org"}'`,
    ),
  )
    .option('--lines', 'every line of the file or of standard input is the payload of one job')
    .action((exec: string, payload: string | undefined, flags: Flags) =>
      flags.lines === true
        ? submitLines(tools, exec, payload, flags)
        : submitOne(tools, exec, payload, flags),
    );
}

export function addRun(program: Command, tools: Tools): void {
  withSubmitOptions(
    verb(
      program,
      'run <exec> [payload]',
      'submit a job and wait for its output',
      "troupe run math.add '[1, 2]'",
    ),
  )
    .option(
      '--result-within <ms>',
      'give up waiting after so long; the job goes on',
      wholeNumber(1, TIMER_MS_MAX),
    )
    .action((exec: string, payload: string | undefined, flags: Flags) => runOne(tools, exec, payload, flags));
}

async function submitOne(
  tools: Tools,
  exec: string,
  argument: string | undefined,
  flags: Flags,
): Promise<void> {
  await withSubmitted(tools, exec, argument, flags, async (handle) => tell(tools, flags, handle));
}

async function runOne(tools: Tools, exec: string, argument: string | undefined, flags: Flags): Promise<void> {
  await withSubmitted(tools, exec, argument, flags, async (handle, deadline) => {
    const output = await handle.result(deadline.left(flags.resultWithin));
    print(tools, flags, { id: handle.id, output }, [JSON.stringify(output)]);
  });
}

async function withSubmitted(
  tools: Tools,
  exec: string,
  argument: string | undefined,
  flags: Flags,
  use: (handle: JobHandle<JobDefinition>, deadline: Deadline) => Promise<void>,
): Promise<void> {
  const { submit, file } = await prepared(exec, argument, flags);
  const sending = await sendingBar(tools, exec, file);
  await withPatience(
    tools,
    flags,
    async (client, deadline) =>
      use(await submit(client, deadline.left()).finally(() => sending.end()), deadline),
    sending,
  );
}

type Submit = (client: Client, wait: WaitOptions) => Promise<JobHandle<JobDefinition>>;

interface Prepared {
  readonly submit: Submit;
  /** What is read while it is sent. */
  readonly file: string | undefined;
}

/** A large file is read while it is sent; anything else before there is a connection, so that what is wrong with it is said first. */
async function prepared(exec: string, argument: string | undefined, flags: Flags): Promise<Prepared> {
  const job = plainJob(exec, flags);
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

/** How much of a large file has left, where somebody looks. */
async function sendingBar(
  { terminal }: Tools,
  exec: string,
  file: string | undefined,
): Promise<{ readonly net?: Net; end(): void }> {
  if (file === undefined || !terminal.isInteractive) return { end: () => undefined };
  const totalKiB = Math.ceil((await stat(file)).size / 1024);
  const bar = new ProgressBar(terminal, `${exec}, KiB`, totalKiB);
  const net = watchedNet((bytes) => bar.at(Math.min(totalKiB, Math.ceil(bytes / 1024))));
  return { net, end: () => bar.end() };
}

/** Ids in the order of the lines, as they come. What is wrong with a line ends it, behind the ids of the lines before. */
async function submitLines(
  tools: Tools,
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
  const job = plainJob(exec, flags);
  const options = optionsOf(flags);
  await withPatience(tools, flags, async (client, deadline) => {
    const bar = new ProgressBar(tools.terminal, exec, 0);
    let read = 0;
    const receipts = new ReceiptLine((handle) => {
      tell(tools, flags, handle);
      bar.at(receipts.told + 1, read);
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

function tell(tools: Tools, flags: Flags, handle: JobHandle<JobDefinition>): void {
  print(tools, flags, { id: handle.id, ...handle.receipt }, [handle.id]);
}

function optionsOf({ idempotencyKey, delay }: Flags): SubmitOptions {
  return {
    ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
    ...(delay === undefined ? {} : { runAfterMs: delay }),
  };
}
