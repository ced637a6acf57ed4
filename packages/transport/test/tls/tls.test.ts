// timeout: 60s

import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { IdentityStore, type ListenerOptions } from '@troupe/transport';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionOf, first } from '../connection-rig.js';
import { RealListener, until } from '../net/real-listener.js';

const tls = suite('tls');
const ours = new CertificateAuthority('our root');
const theirs = new CertificateAuthority('another root');
const KEY = '11'.repeat(32);
const DAY_MS = 86_400_000;
const hosts = ['localhost', '127.0.0.1'];
const good = ours.issue({ name: 'leader', hosts });
const expired = { notBefore: new Date(Date.now() - 10 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) };
const hmac = { kind: 'hmac', keyId: 'k1', key: KEY } as const;

function guarded(options: Partial<ListenerOptions> = {}): RealListener {
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k1', key: KEY }] }]);
  return new RealListener({ auth: { kind: 'hmac', identities }, tls: good, ...options });
}

function byCertificate(): RealListener {
  const identities = new IdentityStore([
    { name: 'pdf-worker', certificate: 'troupe:pdf-worker', work: ['pdf.*'] },
  ]);
  return new RealListener({ auth: { kind: 'mtls', identities }, tls: { ...good, clientCa: ours.cert } });
}

async function refusalOf(dial: Promise<unknown>): Promise<string> {
  return dial.then(
    () => 'connected',
    (error: Error & { code?: string }) => `${error.code ?? ''} ${error.message}`,
  );
}

tls('handshake and frames go through TLS, with the proof bound to the channel', async () => {
  await using server = guarded();
  const { connection } = await server.dial({ tls: { ca: ours.cert }, auth: hmac });
  connection.write(64, { msgId: 'm' }, Buffer.alloc(300_000, 7));
  await until('the message', () => first(server.accepted).frames.length === 1);
  assert.is(first(server.accepted).frames[0]?.body.length, 300_000);
  assert.is(connectionOf(first(server.accepted)).handshake.identityName, 'ann');
});

tls('TLS below 1.3 is refused', async () => {
  await using server = guarded();
  const port = await server.port();
  const answer = await new Promise<string>((resolve) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: ours.cert, maxVersion: 'TLSv1.2' }, () =>
      resolve('connected'),
    );
    socket.on('error', (error) => resolve(error.message));
  });
  assert.match(answer, /version/i);
});

tls('a dialer refuses a listener whose certificate has a wrong name, time or authority', async () => {
  const table = [
    [
      'wrong name',
      ours.issue({ name: 'leader', hosts: ['elsewhere.example'] }),
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    ],
    ['expired', ours.issue({ name: 'leader', hosts, ...expired }), /CERT_HAS_EXPIRED/],
    [
      'not yet valid',
      ours.issue({
        name: 'leader',
        hosts,
        notBefore: new Date(Date.now() + DAY_MS),
        notAfter: new Date(Date.now() + 2 * DAY_MS),
      }),
      /CERT_NOT_YET_VALID/,
    ],
    ['other authority', theirs.issue({ name: 'leader', hosts }), /UNABLE_TO_VERIFY|unable to verify/],
  ] as const;
  for (const [problem, certificate, expected] of table) {
    await using server = guarded({ tls: certificate });
    assert.match(await refusalOf(server.dial({ tls: { ca: ours.cert }, auth: hmac })), expected, problem);
    assert.is(server.accepted.length, 0, problem);
  }
});

tls('a verified certificate gives the connection its identity', async () => {
  await using server = byCertificate();
  const mine = ours.issue({ name: 'worker', uri: 'troupe:pdf-worker' });
  const { connection } = await server.dial({
    tls: { ca: ours.cert, ...mine },
    auth: { kind: 'mtls' },
    role: 'worker',
  });
  assert.is(connection.handshake.identityName, 'pdf-worker');
  const there = connectionOf(first(server.accepted));
  assert.ok(there.permits('work', 'pdf.merge'));
  assert.not.ok(there.permits('submit', 'pdf.merge'));
});

tls('a listener refuses a dialer without a valid and known certificate', async () => {
  const uri = 'troupe:pdf-worker';
  const table = [
    ['none', {}],
    ['expired', ours.issue({ name: 'worker', uri, ...expired })],
    ['other authority', theirs.issue({ name: 'worker', uri })],
    ['unknown', ours.issue({ name: 'worker', uri: 'troupe:unknown' })],
    ['without a URI', ours.issue({ name: 'worker', hosts })],
  ] as const;
  for (const [what, certificate] of table) {
    await using server = byCertificate();
    const answer = await refusalOf(
      server.dial({ tls: { ca: ours.cert, ...certificate }, auth: { kind: 'mtls' } }),
    );
    assert.is.not(answer, 'connected', what);
    assert.is(server.accepted.length, 0, what);
    await until('nothing is left counted', () => server.listener.usage.connections === 0);
  }
});

tls('with keys and a client authority a peer needs both, and its identity is that of the key', async () => {
  const identities = new IdentityStore([
    { name: 'ann', keys: [{ id: 'k1', key: KEY }], submit: ['mail.*'] },
    { name: 'pdf-worker', certificate: 'troupe:pdf-worker', work: ['pdf.*'] },
  ]);
  const auth = { kind: 'hmac', identities } as const;
  await using server = guarded({ auth, tls: { ...good, clientCa: ours.cert } });
  const certificate = ours.issue({ name: 'worker', uri: 'troupe:pdf-worker' });
  const { connection } = await server.dial({ tls: { ca: ours.cert, ...certificate }, auth: hmac });
  assert.is(connection.handshake.identityName, 'ann');
  const there = connectionOf(first(server.accepted));
  assert.ok(there.permits('submit', 'mail.send'));
  assert.not.ok(there.permits('work', 'pdf.merge'));
  const otherAuthority = theirs.issue({ name: 'worker', uri: 'troupe:pdf-worker' });
  const wrongKey = { ...hmac, key: '22'.repeat(32) };
  const table = [
    ['the key alone', { tls: { ca: ours.cert }, auth: hmac }],
    ['a certificate of another authority', { tls: { ca: ours.cert, ...otherAuthority }, auth: hmac }],
    ['a wrong key', { tls: { ca: ours.cert, ...certificate }, auth: wrongKey }],
    ['the certificate alone', { tls: { ca: ours.cert, ...certificate }, auth: { kind: 'mtls' } }],
  ] as const;
  for (const [what, peer] of table) {
    assert.is.not(await refusalOf(server.dial(peer)), 'connected', what);
    assert.is(server.accepted.length, 1, what);
  }
});

tls('bytes that are not TLS get an alert at most', async () => {
  await using server = guarded();
  const port = await server.port();
  const reply = await new Promise<Buffer>((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from('41000000093c000000', 'hex')));
    socket.on('data', (chunk) => parts.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(parts)));
  });
  assert.ok(reply.length <= 7, reply.toString('hex'));
});

tls('gives up a TLS handshake that stalls', async () => {
  await using server = guarded({ limits: { tlsHandshakeMs: 300 } });
  const port = await server.port();
  const started = performance.now();
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => resolve());
  });
  assert.ok(performance.now() - started < 3_000);
  await until('nothing is left counted', () => server.listener.usage.unauthenticated === 0);
  assert.is(server.events[0]?.kind, 'tls-failed');
});

tls('uses a renewed certificate for new connections', async () => {
  await using server = guarded({ tls: ours.issue({ name: 'leader', hosts, ...expired }) });
  assert.match(await refusalOf(server.dial({ tls: { ca: ours.cert }, auth: hmac })), /EXPIRED/);
  server.listener.renewTls(good);
  const { connection } = await server.dial({ tls: { ca: ours.cert }, auth: hmac });
  assert.is(connection.handshake.identityName, 'ann');
});

tls.run();
