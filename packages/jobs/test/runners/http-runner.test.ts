import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client, JobFailedError } from '@troupe/jobs';
import { type HttpRunnerOptions, http, httpRunner } from '@troupe/jobs/runners';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HttpRules } from '#src/runners/http/http-rules.js';
import { isPublicAddress } from '#src/runners/http/node-public-address.js';
import { embedded } from '../checked-processes.js';
import { tempFolder } from '../temp-folder.js';

const requests = suite('http runner');

interface World extends AsyncDisposable {
  readonly client: Client;
  readonly port: number;
  readonly seen: IncomingMessage[];
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(answer: Answer): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function world(answer: Answer, more: Partial<HttpRunnerOptions> = {}): Promise<World> {
  const folder = await tempFolder();
  const seen: IncomingMessage[] = [];
  const server = await listen((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  const port = portOf(server);
  const app = await embedded({ dir: folder.path });
  const hosts = [`localhost:${port}`, `127.0.0.1:${port}`];
  app.worker({ handlers: [httpRunner({ hosts, privateAddresses: ['127.0.0.0/8', '::1'], ...more })] });
  return {
    client: app.client(),
    port,
    seen,
    async [Symbol.asyncDispose]() {
      await app.close({ withinMs: 0 });
      server.closeAllConnections();
      server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    const { failure } = error as JobFailedError;
    return `${failure?.code}: ${failure?.message}`;
  }
  throw new Error('no error');
}

requests('the body of a response comes in chunks; status, headers and body are collected', async () => {
  let next: () => void = () => undefined;
  await using one = await world((_, response) => {
    response.writeHead(201, { 'x-kind': 'test' });
    response.write('grün ');
    next = () => response.end('und rot');
  });
  const url = `http://127.0.0.1:${one.port}/a?b=c`;
  const job = await one.client.stream(http, { url });
  const chunks = job.stream();
  const { value: head } = await chunks.next();
  assert.equal([(head as { status: number }).status, one.seen[0]?.url], [201, '/a?b=c']);
  assert.equal((await chunks.next()).value, { body: 'grün ' });
  next();
  assert.equal((await chunks.next()).value, { body: 'und rot' });
  const output = await job.result();
  assert.equal(
    [output.status, output.headers['x-kind'], output.body, output.url],
    [201, 'test', 'grün und rot', url],
  );
});

requests('method, headers and body are sent; those of the connection are not the job’s', async () => {
  let body = '';
  await using one = await world((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => response.end('ok'));
  });
  const headers = { 'x-own': '1', Host: 'evil.example', Connection: 'keep-alive' };
  const url = `http://localhost:${one.port}/`;
  await one.client.run(http, { url, method: 'POST', headers, body: 'text' });
  const [seen] = one.seen;
  assert.equal([seen?.method, seen?.headers['x-own'], body], ['POST', '1', 'text']);
  assert.is(seen?.headers.host, `localhost:${one.port}`);
});

requests('bytes come as base64 where they are no text', async () => {
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 256));
  await using one = await world((_, response) => {
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
    response.end();
  });
  const { body } = await one.client.run(http, { url: `http://127.0.0.1:${one.port}/`, encoding: 'base64' });
  assert.ok(Buffer.from(body, 'base64').equals(bytes));
});

requests('hosts, ports, protocols and user names that are not listed are refused', async () => {
  await using one = await world((_, response) => response.end());
  const cases: readonly [string, RegExp][] = [
    ['http://other.example/', /host other\.example is not on/],
    [`http://127.0.0.1:${one.port + 1}/`, /not on the worker's list/],
    ['http://localhost/', /not on the worker's list/],
    ['file:///etc/passwd', /protocol file:/],
    [`http://user:pass@127.0.0.1:${one.port}/`, /a user name/],
    ['nothing', /cannot be read/],
  ];
  for (const [url, expected] of cases) {
    const failure = await failureOf(one.client.run(http, { url }));
    assert.match(failure, /^ERR_RUNNER_REFUSED/);
    assert.match(failure, expected);
  }
  assert.is(one.seen.length, 0);
});

requests('a private address is refused, also behind the name of an allowed host', async () => {
  await using one = await world((_, response) => response.end(), { privateAddresses: [] });
  for (const host of ['localhost', '127.0.0.1']) {
    const failure = await failureOf(one.client.run(http, { url: `http://${host}:${one.port}/` }));
    assert.match(failure, /^ERR_RUNNER_REFUSED: .*has the private address/);
  }
  assert.is(one.seen.length, 0);
});

requests('a redirect is checked like the first request, and drops secrets for another host', async () => {
  await using one = await world((request, response) => {
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    if (to === null) response.end('there');
    else response.writeHead(302, { location: to }).end();
  });
  const at = (host: string, to = ''): string =>
    `http://${host}:${one.port}/${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`;
  const headers = { authorization: 'Bearer x', 'x-own': '1' };
  const same = await one.client.run(http, { url: at('localhost', '/'), headers });
  assert.is(same.body, 'there');
  assert.is(one.seen.at(-1)?.headers.authorization, 'Bearer x');
  await one.client.run(http, { url: at('localhost', at('127.0.0.1')), headers });
  const last = one.seen.at(-1)?.headers;
  assert.equal([last?.authorization, last?.['x-own']], [undefined, '1']);
  const before = one.seen.length;
  const away = await failureOf(one.client.run(http, { url: at('localhost', 'http://169.254.169.254/') }));
  assert.match(away, /^ERR_RUNNER_REFUSED: .*169\.254\.169\.254 is not on/);
  assert.is(one.seen.length, before + 1);
});

requests('redirects end: the last answer is the output', async () => {
  await using one = await world((_, response) => response.writeHead(302, { location: '/' }).end(), {
    redirectsMax: 3,
  });
  const { status } = await one.client.run(http, { url: `http://127.0.0.1:${one.port}/` });
  assert.equal([status, one.seen.length], [302, 4]);
});

requests('a status of 5xx is tried again, one of 4xx is an output', async () => {
  let answers = 0;
  await using one = await world((request, response) => {
    answers += 1;
    response.writeHead(request.url === '/gone' ? 404 : answers === 1 ? 503 : 200).end('body');
  });
  assert.is((await one.client.run(http, { url: `http://127.0.0.1:${one.port}/` })).status, 200);
  assert.is((await one.client.run(http, { url: `http://127.0.0.1:${one.port}/gone` })).status, 404);
});

requests('a body beyond the bound is a final failure, and a cancel ends the request', async () => {
  let closed = 0;
  await using one = await world(
    (request, response) => {
      response.on('close', () => {
        closed += 1;
      });
      response.write(request.url === '/large' ? 'x'.repeat(200_000) : 'begun');
    },
    { bodyBytesMax: 100_000 },
  );
  const large = await failureOf(one.client.run(http, { url: `http://127.0.0.1:${one.port}/large` }));
  assert.match(large, /^ERR_RUNNER_OUTPUT/);
  const job = await one.client.stream(http, { url: `http://127.0.0.1:${one.port}/` });
  await job.cancel();
  for (const end = performance.now() + 20_000; closed < 2; ) {
    assert.ok(performance.now() < end, 'the connection stays open');
    await new Promise((resolve) => setImmediate(resolve));
  }
});

requests('addresses that are not of the public internet', () => {
  const inside = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
  ];
  inside.push('224.0.0.1', '255.255.255.255', '198.18.0.1', '::1', '::', 'fe80::1', 'fc00::1', 'ff02::1');
  inside.push(
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'text',
    '',
  );
  for (const address of inside) assert.is(isPublicAddress(address), false, address);
  for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700::1111'])
    assert.ok(isPublicAddress(address), address);
});

requests('a pattern of hosts covers those below it, and a port where it names one', () => {
  const rules = new HttpRules({
    hosts: ['api.example.com', '*.cdn.example', 'own.example:8443', '[::1]:8080'],
  });
  const isAllowed = (url: string): boolean => {
    try {
      rules.checkUrl(new URL(url), undefined);
      return true;
    } catch {
      return false;
    }
  };
  const allowed = ['https://api.example.com/', 'http://API.example.com:80/x', 'https://a.b.cdn.example/'];
  allowed.push('https://own.example:8443/', 'http://[::1]:8080/');
  for (const url of allowed) assert.ok(isAllowed(url), url);
  const refused = [
    'https://example.com/',
    'https://cdn.example/',
    'https://evilcdn.example/',
    'https://own.example/',
  ];
  refused.push('https://api.example.com:8443/', 'https://api.example.com.evil.example/', 'http://[::1]/');
  for (const url of refused) assert.not.ok(isAllowed(url), url);
  assert.throws(
    () => rules.checkUrl(new URL('http://api.example.com/'), new URL('https://api.example.com/')),
    /https to http/,
  );
});

requests('options that would allow something else are refused', () => {
  for (const options of [
    {},
    { hosts: ['*'] },
    { hosts: ['http://a.b'] },
    { hosts: [], privateAddresses: ['10.0.0.0/33'] },
  ])
    assert.throws(() => httpRunner(options as never));
});

requests.run();
