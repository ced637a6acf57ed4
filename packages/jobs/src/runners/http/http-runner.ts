import { HttpStatusError, RunnerOutputError, RunnerRefusedError } from '../../jobs-error.js';
import { checkOptions } from '../../option-check.js';
import { type HandledJob, handle } from '../../worker/handlers/handler.js';
import { type HttpChunk, type HttpInput, http } from './http-job.js';
import { HTTP_RULES, HttpRules, type HttpRunnerOptions } from './http-rules.js';
import { sendRequest } from './node-http-request.js';

/** A chunk of a stream is at most 256 KiB as JSON, where a character may be six bytes. */
const CHUNK_CHARS_MAX = 32 * 1024;

/** The handler of {@link http}, for the hosts that this worker allows. */
export function httpRunner(options: HttpRunnerOptions): HandledJob {
  checkOptions('httpRunner', options, HTTP_RULES, ['hosts']);
  const rules = new HttpRules(options);
  return handle(http, (input, { signal }) => runRequest(rules, input, signal));
}

async function* runRequest(
  rules: HttpRules,
  input: HttpInput,
  signal: AbortSignal,
): AsyncGenerator<HttpChunk, void, void> {
  if (!URL.canParse(input.url)) throw new RunnerRefusedError('the URL cannot be read');
  const { message, url } = await sendRequest(rules, input, signal);
  const status = message.statusCode ?? 0;
  // The server may do better next time; any other status is an answer.
  if (status >= 500 || status === 429 || status === 408) {
    message.destroy();
    throw new HttpStatusError(status, url.host);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers))
    headers[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
  yield { status, headers, url: url.href };
  const decode = decoderOf(input.encoding ?? 'utf8');
  let bytes = 0;
  for await (const piece of message as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > rules.bodyBytesMax) throw new RunnerOutputError(rules.bodyBytesMax);
    yield* chunksOf(decode(piece));
  }
  yield* chunksOf(decode(undefined));
}

function* chunksOf(text: string): Generator<HttpChunk, void, void> {
  for (let at = 0; at < text.length; at += CHUNK_CHARS_MAX)
    yield { body: text.slice(at, at + CHUNK_CHARS_MAX) };
}

/** Pieces end anywhere: the rest of a character or of three bytes waits for the next piece. */
function decoderOf(encoding: 'utf8' | 'base64'): (piece: Buffer | undefined) => string {
  if (encoding === 'utf8') {
    const decoder = new TextDecoder();
    return (piece) => decoder.decode(piece, { stream: piece !== undefined });
  }
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    const all = piece === undefined ? rest : Buffer.concat([rest, piece]);
    const whole = piece === undefined ? all.length : all.length - (all.length % 3);
    rest = all.subarray(whole);
    return all.subarray(0, whole).toString('base64');
  };
}
