import { lookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { HttpInput } from './http-job.js';
import type { HttpRules } from './http-rules.js';

/** Headers that state how the request itself is sent. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'accept-encoding',
  'proxy-authorization',
  'proxy-connection',
]);
/** Not for another host behind a redirect. */
const SECRET_HEADERS = new Set(['authorization', 'cookie']);

export interface HttpResponse {
  readonly message: IncomingMessage;
  readonly url: URL;
}

type Method = NonNullable<HttpInput['method']>;

/** One request and the redirects behind it. Each is checked, and goes to the address that was checked. */
export async function sendRequest(
  rules: HttpRules,
  input: HttpInput,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let url = new URL(input.url);
  let before: URL | undefined;
  let method: Method = input.method ?? 'GET';
  let { body } = input;
  for (let left = rules.redirectsMax; ; left -= 1) {
    rules.checkUrl(url, before);
    const address = await checkedAddress(rules, url);
    const isOther = before !== undefined && before.host !== url.host;
    const headers = headersOf(input.headers ?? {}, isOther);
    const message = await sendOnce({ url, address, method, headers, body }, rules.headMsMax, signal);
    const { statusCode = 0, headers: answered } = message;
    const isRedirect = [301, 302, 303, 307, 308].includes(statusCode) && answered.location !== undefined;
    if (!isRedirect || left === 0) return { message, url };
    message.destroy();
    before = url;
    url = new URL(answered.location ?? '', url);
    const becomesGet = statusCode === 303 || (statusCode < 303 && method === 'POST');
    if (becomesGet && method !== 'HEAD') {
      method = 'GET';
      body = undefined;
    }
  }
}

/** Every address of the host must be allowed; the first is used, so that no later answer of DNS counts. */
async function checkedAddress(rules: HttpRules, { hostname }: URL): Promise<string> {
  const plain = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const found = isIP(plain) === 0 ? await lookup(plain, { all: true }) : [{ address: plain }];
  for (const { address } of found) rules.checkAddress(hostname, address);
  const [first] = found;
  if (first === undefined) throw new Error(`host ${hostname} has no address`);
  return first.address;
}

interface SingleRequest {
  readonly url: URL;
  readonly address: string;
  readonly method: Method;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

function sendOnce(
  { url, address, method, headers, body }: SingleRequest,
  headMsMax: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const options: RequestOptions & { readonly servername?: string } = {
    host: address,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method,
    // No connection is used again: it would be to the address of another request.
    agent: false,
    signal,
    headers: { ...headers, host: url.host, 'accept-encoding': 'identity' },
    ...(isSecure && !url.hostname.startsWith('[') && isIP(url.hostname) === 0
      ? { servername: url.hostname }
      : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(options, (message) => {
      clearTimeout(timer);
      resolve(message);
    });
    const timer = setTimeout(
      () => request.destroy(new Error(`no response of ${url.host} within ${headMsMax} ms`)),
      headMsMax,
    );
    request.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.end(body);
  });
}

function headersOf(given: Readonly<Record<string, string>>, isOther: boolean): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (OWN_HEADERS.has(lower) || (isOther && SECRET_HEADERS.has(lower))) continue;
    headers[lower] = value;
  }
  return headers;
}
