// timeout: 120s
import { connect, type Socket } from 'node:net';
import { dashboard } from '@troupe/dashboard';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fuzzRequests } from './fuzz/request-fuzz.js';
import { GatewayRig } from './gateway-rig.js';

const hostile = suite('hostile requests');
const REQUESTS = 10_000;

hostile(
  'mutated requests of all routes are answered or refused, and none is a failure of the gateway',
  async () => {
    await using rig = await GatewayRig.start();
    const ids = [await rig.submit('sample.echo', 1), await rig.submit('later.job', 1, '?runAfter=1h')];
    const gateway = dashboard({ client: rig.client });
    const { statuses } = await fuzzRequests(gateway, 7, ids, (requests) => requests === REQUESTS);
    for (const status of ['200', '201', '400', '403', '404', '421'])
      assert.ok((statuses[status] ?? 0) > 10, `${status} in ${JSON.stringify(statuses)}`);
    // Requests above may have paused the queue of the job that they name, so this is another one.
    const id = await rig.submit('math.add', [1, 2]);
    const result = await rig.get(`/api/jobs/${id}/result?within=10s`);
    assert.is(((await result.json()) as { output: number }).output, 3);
  },
);

/** Bytes on a connection, and the status line that the server must answer with, if any. */
const TABLE: readonly (readonly [name: string, bytes: string, answer: RegExp])[] = [
  ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['TLS on a plain port', '\u0016\u0003\u0001\u0002\u0000', /^HTTP\/1\.1 400 /],
  ['two lengths', post('content-length: 3\r\ncontent-length: 4\r\n', 'abc'), /^HTTP\/1\.1 400 /],
  [
    'length and chunks',
    post('content-length: 3\r\ntransfer-encoding: chunked\r\n', 'abc'),
    /^HTTP\/1\.1 400 /,
  ],
  ['a negative length', post('content-length: -1\r\n', ''), /^HTTP\/1\.1 400 /],
  ['chunks without numbers', post('transfer-encoding: chunked\r\n', 'zz\r\nabc'), /^HTTP\/1\.1 400 /],
  ['a line feed in a header', 'GET / HTTP/1.1\r\nhost: localhost\r\nx: a\u0000b\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['a head without end', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(40_000)}`, /^HTTP\/1\.1 431 /],
  [
    'a path that is too long',
    `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    /^HTTP\/1\.1 431 /,
  ],
  ['no host', 'GET /api/health HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['another host', 'GET /api/health HTTP/1.1\r\nhost: evil.example\r\n\r\n', /^HTTP\/1\.1 421 /],
  ['a proxy request', 'GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\n\r\n', /^HTTP\/1\.1 (4\d\d) /],
  ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n', /^(HTTP\/1\.1 4\d\d |$)/],
  ['a length beyond the limit', post('content-length: 999999999\r\n', ''), /^HTTP\/1\.1 413 /],
];

hostile('each line of the table is refused, and a healthy request is served beside it', async () => {
  await using rig = await GatewayRig.start();
  for (const [name, bytes, answer] of TABLE) {
    const text = await answerTo(rig.url, bytes);
    assert.match(text, answer, `${name}: ${text.slice(0, 200)}`);
    assert.not.match(text, /node:|\.js:\d/, `${name}: no stack`);
    assert.is((await rig.get('/api/health')).status, 200, name);
  }
});

hostile('connections that drip their head are cut off, and others are served meanwhile', async () => {
  await using rig = await GatewayRig.start();
  const dripping = Array.from({ length: 200 }, () => drip(rig.url));
  for (let n = 0; n < 20; n += 1) assert.is((await rig.get('/api/health')).status, 200);
  const ended = await Promise.all(dripping);
  for (const text of ended) assert.match(text, /^(HTTP\/1\.1 408 |$)/);
});

function post(headers: string, body: string): string {
  return `POST /api/execs/sample.echo/jobs HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n${body}`;
}

function open(url: string): { readonly socket: Socket; readonly answer: Promise<string> } {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  let read = '';
  socket.on('data', (chunk: string) => {
    read += chunk;
  });
  const answer = new Promise<string>((resolve) => {
    socket.on('error', () => resolve(read));
    socket.on('close', () => resolve(read));
  });
  return { socket, answer };
}

/** The first answer; the connection is ended behind it. */
async function answerTo(url: string, bytes: string): Promise<string> {
  const { socket, answer } = open(url);
  socket.write(bytes, 'latin1');
  socket.once('data', () => setTimeout(() => socket.destroy(), 20));
  return answer;
}

/** A header a second, and never an end: resolves with the answer when the server gives up. */
async function drip(url: string): Promise<string> {
  const { socket, answer } = open(url);
  socket.write('GET /api/health HTTP/1.1\r\nhost: localhost\r\n');
  const timer = setInterval(() => socket.write('x: y\r\n'), 500);
  const text = await answer;
  clearInterval(timer);
  return text;
}

hostile.run();
