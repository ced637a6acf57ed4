import { defineJob } from '../../job/definition/define-job.js';
import { checkedSchema, isText, isTextRecord } from '../checked-schema.js';

export interface HttpInput {
  /** http or https, to a host of the worker's allow-list. */
  readonly url: string;
  /** The method of the request. Default `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined;
  /** Host, length and connection headers are the worker's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body of the request. Default: none. */
  readonly body?: string | undefined;
  /** How bytes of the response become texts. Default `utf8`. */
  readonly encoding?: 'utf8' | 'base64' | undefined;
}

/** The head of the response first, then its body in pieces. */
export type HttpChunk =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly url: string }
  | { readonly body: string };

export interface HttpOutput {
  /** Of the last response. */
  readonly status: number;
  /** Its headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The last one, behind redirects. */
  readonly url: string;
  /** Its body, as the encoding of the input says. */
  readonly body: string;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const NOTHING: HttpOutput = { status: 0, headers: {}, url: '', body: '' };

/** Makes a request to a host of the worker's allow-list: the response body as chunks. */
export const http = defineJob('http.request', {
  input: checkedSchema<HttpInput>(inputProblem),
  output: checkedSchema<HttpOutput>((value) =>
    typeof (value as HttpOutput | null)?.status === 'number' ? undefined : 'not a response',
  ),
  chunk: checkedSchema<HttpChunk>((value) =>
    typeof value === 'object' && value !== null ? undefined : 'not a piece of a response',
  ),
  collect: (collected = NOTHING, chunk): HttpOutput =>
    'body' in chunk ? { ...collected, body: collected.body + chunk.body } : { ...collected, ...chunk },
  limits: { outputBytes: 8 * 1024 * 1024 },
});

function inputProblem(value: unknown): string | undefined {
  const { url, method, headers, body, encoding } = (value ?? {}) as Partial<Record<keyof HttpInput, unknown>>;
  if (!isText(url)) return 'url is not a text';
  if (method !== undefined && !METHODS.includes(method as string))
    return `method is not one of ${METHODS.join(', ')}`;
  if (headers !== undefined && !isTextRecord(headers)) return 'headers are not an object of texts';
  if (body !== undefined && !isText(body)) return 'body is not a text';
  if (encoding !== undefined && encoding !== 'utf8' && encoding !== 'base64')
    return 'encoding is not utf8 or base64';
  return undefined;
}
