import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

/** The form of the input of `troupe feed`: each line a text, each line JSON, or pieces of bytes in base64. */
export type FeedForm = 'text' | 'json' | 'bytes';

const PIECE_BYTES = 64 * 1024;

/** The items of a feed from an input, as they come. */
export async function* feedItems(input: Readable, form: FeedForm): AsyncGenerator<unknown, void, void> {
  if (form === 'bytes') return yield* pieces(input);
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    yield form === 'text' ? text : jsonOf(text, line);
  }
}

async function* pieces(input: Readable): AsyncGenerator<string, void, void> {
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk as Buffer);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield bytes.subarray(at, at + PIECE_BYTES).toString('base64');
  }
}

function jsonOf(text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError('ERR_CLI_PAYLOAD', ExitCode.usage, `feed: line ${line} is not JSON`);
  }
}
