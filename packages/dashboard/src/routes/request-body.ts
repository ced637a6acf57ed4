import { badInput, HttpProblem } from '../problem/http-problem.js';

/** A larger body goes to the leader through a file while it arrives. */
const INLINE_BYTES_MAX = 1024 * 1024;

const BYTES_TYPE = 'application/octet-stream';
/** A payload that begins with a zero byte is bytes, and not JSON. */
const BYTES_MARK = Uint8Array.of(0);

/** The body of a request: its JSON value, or its bytes as they come where it is large or of unknown size. */
export type RequestBody =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly bytes: AsyncIterable<Uint8Array> };

export async function readBody(request: Request, bytesMax: number): Promise<RequestBody> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > bytesMax) throw tooLarge(bytesMax);
  const bytes = boundedBytes(request, bytesMax);
  if (request.headers.get('content-type')?.startsWith(BYTES_TYPE) === true)
    return { kind: 'bytes', bytes: marked(bytes) };
  if (!(length <= INLINE_BYTES_MAX)) return { kind: 'bytes', bytes };
  return { kind: 'value', value: parseJson(await textOf(bytes)) };
}

/** The JSON value of a small body; undefined for an empty one. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await textOf(boundedBytes(request, INLINE_BYTES_MAX));
  return text === '' ? undefined : parseJson(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badInput(`the body is not JSON: ${(error as Error).message}`);
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

async function* boundedBytes({ body }: Request, bytesMax: number): AsyncGenerator<Uint8Array, void, void> {
  if (body === null) return;
  let bytes = 0;
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    yield part;
  }
}

async function* marked(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield BYTES_MARK;
  yield* bytes;
}

function tooLarge(bytesMax: number): HttpProblem {
  return new HttpProblem(413, 'ERR_HTTP_BODY_TOO_LARGE', `the body is larger than ${bytesMax} bytes`);
}
