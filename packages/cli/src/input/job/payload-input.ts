import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

const LARGE_BYTES = 1024 * 1024;

export interface PayloadFlags {
  readonly file?: string;
  readonly text?: boolean;
}

/** The payload: the argument, else the file, else standard input. JSON, unless --text is given. */
export async function readPayload(argument: string | undefined, flags: PayloadFlags): Promise<unknown> {
  const { text, where } = await source(argument, flags);
  return flags.text === true ? text : parse(text, where);
}

/** The file, if it is too large to be read as a whole. The worker then finds out whether it is JSON. */
export async function largeFile(
  argument: string | undefined,
  { file }: PayloadFlags,
): Promise<string | undefined> {
  if (argument !== undefined || file === undefined || file === '-') return undefined;
  const { size } = await stat(file);
  return size >= LARGE_BYTES ? file : undefined;
}

/** The JSON string of a text file, a piece at a time. */
export async function* jsonOfText(file: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from('"');
  for await (const text of textOf(createReadStream(file), file))
    yield Buffer.from(JSON.stringify(text).slice(1, -1));
  yield Buffer.from('"');
}

/** One payload a line. */
export async function* readPayloadLines(flags: PayloadFlags): AsyncGenerator<unknown> {
  const where = nameOf(flags.file);
  let number = 0;
  for await (const line of readLines(flags.file)) {
    number += 1;
    if (line === '') continue;
    yield flags.text === true ? line : parse(line, `${where}, line ${number}`);
  }
}

/** The lines of a file or of standard input. */
export async function* readLines(file: string | undefined): AsyncGenerator<string> {
  const { stream, where } = streamOf(file);
  const input = Readable.from(textOf(stream, where));
  yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}

async function source(
  argument: string | undefined,
  flags: PayloadFlags,
): Promise<{ text: string; where: string }> {
  if (argument !== undefined && argument !== '-') {
    if (flags.file !== undefined)
      throw new CliError(
        'ERR_CLI_PAYLOAD',
        ExitCode.usage,
        'payload: given twice; use the argument or --file',
      );
    return { text: argument, where: 'argument' };
  }
  if (argument === undefined && flags.file === undefined && process.stdin.isTTY === true)
    throw new CliError(
      'ERR_CLI_PAYLOAD',
      ExitCode.usage,
      'payload: none; give it as an argument, with --file, or on standard input',
    );
  const { stream, where } = streamOf(flags.file);
  const pieces: string[] = [];
  for await (const piece of textOf(stream, where)) pieces.push(piece);
  return { text: pieces.join(''), where };
}

/** Input that is not UTF-8 is refused. */
async function* textOf(stream: Readable, where: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      const message = `payload from ${where}: not UTF-8; encode it, as base64 for instance`;
      throw new CliError('ERR_CLI_PAYLOAD', ExitCode.data, message, { cause });
    }
  };
  for await (const chunk of stream) yield decode(chunk as Uint8Array);
  yield decode();
}

function streamOf(file: string | undefined): { stream: Readable; where: string } {
  const isStandard = file === undefined || file === '-';
  return { stream: isStandard ? process.stdin : createReadStream(file), where: nameOf(file) };
}

function nameOf(file: string | undefined): string {
  return file === undefined || file === '-' ? 'standard input' : file;
}

function parse(text: string, where: string): unknown {
  if (text.trim() === '')
    throw new CliError(
      'ERR_CLI_PAYLOAD',
      ExitCode.data,
      `payload from ${where}: empty; give JSON, null for none, or say --text`,
    );
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new CliError(
      'ERR_CLI_PAYLOAD',
      ExitCode.data,
      `payload from ${where}: not JSON; say --text to send it as a text`,
      {
        cause,
      },
    );
  }
}
