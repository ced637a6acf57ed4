// timeout: 60s

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bodyFromFile, bodyFromIterable, FrameType, IdentityStore, NO_HEADER } from '@troupe/transport';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf, first } from '../connection-rig.js';
import { RealListener, until } from './real-listener.js';

const net = suite('node net');

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-transport-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

net('frames go over a real socket with authentication by key', async () => {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: '11'.repeat(32) }] }]);
  await using server = new RealListener({ auth: { kind: 'hmac', identities } });
  const { connection, log } = await server.dial({
    auth: { kind: 'hmac', keyId: 'k1', key: '11'.repeat(32) },
  });
  first(server.accepted).onEachFrame = (frame, there) =>
    there.write(65, { corrId: frame.header.msgId }, frame.body);
  for (let i = 0; i < 10_000; i += 1) connection.write(64, { msgId: `m${i}` }, Buffer.from(`body ${i}`));
  await until('all echoes', () => log.frames.length === 10_000);
  assert.ok(
    log.frames.every((frame, i) => frame.header.corrId === `m${i}` && frame.body.toString() === `body ${i}`),
  );
});

net('listens on a Unix socket only its owner can open', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'leader.sock');
    await using server = new RealListener({ address: { path } });
    const { connection } = await server.dial();
    assert.is((await stat(path)).mode & 0o777, 0o600);
    assert.is(connection.remote, 'unix');
    connection.write(64, NO_HEADER, Buffer.from('over a file'));
    await until('the message', () => first(server.accepted).bodies[0] === 'over a file');
  });
});

net('takes over the socket file of a listener that was killed, and never that of a living one', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'leader.sock');
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(`${path}.new`, () => resolve()));
    // A file that was moved away survives its server, as after a kill.
    await rename(`${path}.new`, path);
    await new Promise((resolve) => dead.close(resolve));
    await using server = new RealListener({ address: { path } });
    await server.dial();
    await using second = new RealListener({ address: { path } });
    const error = await second.bound.then(
      () => null,
      (reason: { code: string }) => reason,
    );
    assert.is(error?.code, 'ERR_LISTEN');
    await server.dial();
    const file = join(folder, 'other-file');
    await writeFile(file, 'precious');
    await using third = new RealListener({ address: { path: file } });
    assert.is(
      await third.bound.then(
        () => 'bound',
        (reason: { code: string }) => reason.code,
      ),
      'ERR_LISTEN',
    );
    assert.is((await stat(file)).size, 8, 'a file that is not a socket is not replaced');
  });
});

net('`close` does not wait for handshakes', async () => {
  const certificate = new CertificateAuthority('root').issue({ name: 'leader', hosts: ['127.0.0.1'] });
  for (const options of [{}, { tls: certificate }]) {
    const server = new RealListener(options);
    const port = await server.port();
    const silent = connect(port, '127.0.0.1');
    silent.on('error', () => undefined);
    await until('the socket is counted', () => server.listener.usage.unauthenticated === 1);
    const started = performance.now();
    await server[Symbol.asyncDispose]();
    assert.ok(performance.now() - started < 1_500, 'no wait for the handshake timeout');
    silent.destroy();
  }
});

net('an address in use is a ListenError', async () => {
  await using server = new RealListener();
  await using second = new RealListener({ address: { port: await server.port() } });
  const error = await second.bound.then(
    () => null,
    (reason: { code: string }) => reason,
  );
  assert.is(error?.code, 'ERR_LISTEN');
});

net('a body from a file and one from an iterable arrive unchanged', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'body');
    const bytes = Buffer.alloc(5_000_000);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = (i * i) >> 3;
    await writeFile(path, bytes);
    await using server = new RealListener();
    const { connection } = await server.dial();
    const hashes: Promise<string>[] = [];
    first(server.accepted).onEachFrame = (frame) => {
      hashes.push(
        (async () => {
          const hash = createHash('sha256');
          for await (const chunk of frame.incoming ?? []) hash.update(chunk);
          return hash.digest('hex');
        })(),
      );
    };
    async function* halves() {
      yield bytes.subarray(0, 3_000_001);
      yield bytes.subarray(3_000_001);
    }
    connection.writeBody(64, NO_HEADER, bodyFromFile(path));
    connection.writeBody(64, NO_HEADER, bodyFromIterable(halves()));
    await until('both bodies', () => hashes.length === 2);
    const expected = createHash('sha256').update(bytes).digest('hex');
    assert.equal(await Promise.all(hashes), [expected, expected]);
  });
});

net('a connection over the limit gets TOO_MANY_CONNECTIONS on a plain socket', async () => {
  await using server = new RealListener({ limits: { connectionsMax: 1 } });
  await server.dial();
  const error = await server.dial().then(
    () => '',
    (reason: Error) => reason.message,
  );
  assert.match(error, /TOO_MANY_CONNECTIONS/);
});

net('the kill of a peer inside a frame is reported as `midFrame` or as a socket error', async () => {
  await using server = new RealListener();
  const child = fork(new URL('partial-frame-dialer.js', import.meta.url), [String(await server.port())], {
    stdio: 'ignore',
  });
  await until('the first frame', () => server.accepted[0]?.frames.length === 1);
  child.kill('SIGKILL');
  await until('the end', () => server.accepted[0]?.closed != null);
  const closed = first(server.accepted).closed;
  assert.ok(
    closed?.kind === 'peer-closed' ? closed.midFrame : closed?.kind === 'socket-error',
    JSON.stringify(closed),
  );
  assert.is(first(server.accepted).frames.length, 1);
});

net('a dialer whose listener is killed inside a frame dials again', async () => {
  const child = fork(new URL('partial-frame-listener.js', import.meta.url), [], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message) => resolve(Number(message))),
  );
  await using elsewhere = new RealListener();
  const { log, events } = await elsewhere.dial({ address: { port }, backoff: { fromMs: 10, toMs: 20 } });
  await until('half a frame', () => log.frames.length === 1);
  child.kill('SIGKILL');
  await until('the end', () => log.closed !== null);
  const closed = log.closed as { kind: string; midFrame?: boolean };
  assert.ok(closed.midFrame === true || closed.kind === 'socket-error', JSON.stringify(closed));
  await until('another attempt', () => events.some((event) => event.kind === 'unreachable'));
});

net('connections of other protocols are closed at once without a reply', async () => {
  await using server = new RealListener();
  const port = await server.port();
  for (const bytes of [
    'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'SSH-2.0-OpenSSH_9\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
    '\xff\xff\xff\xff',
  ]) {
    const reply = await new Promise<string>((resolve, reject) => {
      let text = '';
      const started = performance.now();
      const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('error', () => undefined);
      socket.on('close', () =>
        performance.now() - started < 1_500 ? resolve(text) : reject(new Error('not at once')),
      );
    });
    assert.is(reply, '');
  }
  assert.is(server.accepted.length, 0);
  assert.equal(
    [...new Set(server.events.map((event) => (event.kind === 'closed' ? event.reason.kind : event.kind)))],
    ['unknown-protocol'],
  );
});

net('`drain` notifies the peers, writes the outboxes and closes', async () => {
  const server = new RealListener();
  const { log } = await server.dial();
  const there = connectionOf(first(server.accepted));
  for (let i = 0; i < 1_000; i += 1) there.write(FrameType.Result, NO_HEADER, Buffer.alloc(1_000));
  await new Promise<void>((resolve) => server.listener.drain(300, resolve));
  assert.equal(log.peerDrains, [300]);
  assert.is(log.frames.length, 1_000);
  assert.is(server.listener.connections, 0);
  await server[Symbol.asyncDispose]();
});

net.run();
