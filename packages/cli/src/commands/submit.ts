import type { Client, JobDefinition, JobHandle, SubmitOptions } from '@troupe/jobs';
import type { Command } from 'commander';
import { wholeNumber, YEAR_MS } from '../number-option.js';
import { ProgressBar } from '../progress-bar.js';
import { type LeaderFlags, withLeader, withSubmitter } from '../session/leader-options.js';
import {
  jsonOfText,
  largeFile,
  type PayloadFlags,
  readPayload,
  readPayloadLines,
} from '../session/payload-input.js';
import { type JobFlags, plainJob, withJobOptions } from '../session/plain-job.js';
import { type JsonFlag, print, type Tools, verb } from '../verb.js';

interface Flags extends JsonFlag, LeaderFlags, JobFlags, PayloadFlags {
  readonly keyId?: string;
  readonly delay?: number;
  readonly lines?: boolean;
  readonly resultWithin?: number;
}

function withSubmitOptions(command: Command): Command {
  return withJobOptions(withLeader(command))
    .option('-f, --file <path>', 'payload from a file; - is standard input')
    .option('-t, --text', 'the payload is text, not JSON')
    .option('--key-id <key>', 'idempotency key: the same key is the same job')
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
      flags.lines === true ? submitLines(tools, exec, flags) : submitOne(tools, exec, payload, flags),
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
    .option('--result-within <ms>', 'give up waiting after so long; the job goes on', wholeNumber(1, YEAR_MS))
    .action((exec: string, payload: string | undefined, flags: Flags) => runOne(tools, exec, payload, flags));
}

async function submitOne(
  tools: Tools,
  exec: string,
  argument: string | undefined,
  flags: Flags,
): Promise<void> {
  const submit = await prepared(exec, argument, flags);
  await withSubmitter(flags, async (client) => tell(tools, flags, await submit(client)));
}

async function runOne(tools: Tools, exec: string, argument: string | undefined, flags: Flags): Promise<void> {
  const submit = await prepared(exec, argument, flags);
  await withSubmitter(flags, async (client) => {
    const handle = await submit(client);
    const output = await handle.result(
      flags.resultWithin === undefined ? {} : { withinMs: flags.resultWithin },
    );
    print(tools, flags, { id: handle.id, output }, [JSON.stringify(output)]);
  });
}

type Submit = (client: Client) => Promise<JobHandle<JobDefinition>>;

/** A large file is read while it is sent; anything else before there is a connection, so that what is wrong with it is said first. */
async function prepared(exec: string, argument: string | undefined, flags: Flags): Promise<Submit> {
  const job = plainJob(exec, flags);
  const options = optionsOf(flags);
  const file = await largeFile(argument, flags);
  if (file === undefined) {
    const payload = await readPayload(argument, flags);
    return (client) => client.submit(job, payload, options);
  }
  return flags.text === true
    ? (client) => client.submitStream(job, jsonOfText(file), options)
    : (client) => client.submitFile(job, file, options);
}

/** As many under way as the client lets in; ids in the order of the lines. */
async function submitLines(tools: Tools, exec: string, flags: Flags): Promise<void> {
  const job = plainJob(exec, flags);
  await withSubmitter(flags, async (client) => {
    const pending: Promise<JobHandle<JobDefinition>>[] = [];
    for await (const payload of readPayloadLines(flags))
      pending.push(quiet(client, job, payload, optionsOf(flags)));
    const bar = new ProgressBar(tools.terminal, exec, pending.length);
    for (const [i, one] of pending.entries()) {
      tell(tools, flags, await one);
      bar.at(i + 1);
    }
    bar.end();
  });
}

/** The first refusal is reported; those behind it must not be unhandled. */
function quiet(
  client: Client,
  job: JobDefinition,
  payload: unknown,
  options: SubmitOptions,
): Promise<JobHandle<JobDefinition>> {
  const submitted = client.submit(job, payload, options);
  submitted.catch(() => undefined);
  return submitted;
}

function tell(tools: Tools, flags: Flags, handle: JobHandle<JobDefinition>): void {
  print(tools, flags, { id: handle.id, ...handle.receipt }, [handle.id]);
}

function optionsOf({ keyId, delay }: Flags): SubmitOptions {
  return {
    ...(keyId === undefined ? {} : { key: keyId }),
    ...(delay === undefined ? {} : { runAfterMs: delay }),
  };
}
