// timeout: 60s
// The rows of hostile peers that leave traces rather than delay: what they did must be gone when they are, and a healthy client goes on.
import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { connectClient, type JobsError, startLeader } from '@troupe/jobs';
import { Dialer, IdentityStore, nodeClock, nodeNet } from '@troupe/transport';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { leaderRole, type Role, stateFolder, workerRole } from '../remote/role.js';
import { Echo } from '../remote/trial-jobs.js';

const hostile = suite('hostile table');

const MINIMAL_HELLO = Buffer.from('05000000' + '09' + '00000000', 'hex');
const PING = Buffer.concat([Buffer.from('0d000000' + '25' + '08000000', 'hex'), Buffer.alloc(8)]);

function dial(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', () => undefined);
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.resume().once('close', () => resolve());
  });
}

/** Open descriptors and resident memory of a process, as the system counts them. */
async function usage(pid: number): Promise<{ readonly fds: number; readonly rssMiB: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const rssMiB = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
  return { fds: (await readdir(`/proc/${pid}/fd`)).length, rssMiB };
}

/** A full peer that sends one frame with the header it is told to. */
function send(port: number, header: object, body: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const dialer = new Dialer({
      net: nodeNet,
      clock: nodeClock,
      address: { port },
      role: 'client',
      onConnection: (connection) => {
        connection.write(JobFrameType.ClientHello, header, body);
        return {
          onFrame: () => undefined,
          onClose: () => {
            dialer.close();
            resolve();
          },
        };
      },
    });
  });
}

const rows: Readonly<Record<string, (port: number) => Promise<void>>> = {
  'a reconnect storm': async (port) => {
    for (let i = 0; i < 20; i += 1) {
      const sockets = await Promise.all(Array.from({ length: 25 }, () => dial(port)));
      for (const socket of sockets) socket.write(MINIMAL_HELLO);
      for (const socket of sockets) socket.destroy();
    }
  },
  'a reset behind every frame': async (port) => {
    for (let i = 0; i < 200; i += 1) {
      const socket = await dial(port);
      await new Promise((resolve) => socket.write(MINIMAL_HELLO, resolve));
      socket.resetAndDestroy();
    }
  },
  'a flood of pings': async (port) => {
    const socket = await dial(port);
    socket.end(Buffer.concat([MINIMAL_HELLO, ...Array.from({ length: 50_000 }, () => PING)]));
    await closed(socket);
  },
  'frames cut in the middle': async (port) => {
    const cut = PING.subarray(0, 11);
    for (let i = 0; i < 100; i += 1) (await dial(port)).end(Buffer.concat([MINIMAL_HELLO, cut]));
  },
  'bombs: a thousand to one, and lengths that lie': async (port) => {
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    for (const rawLen of [16 * 1024 * 1024, 1, bomb.length * 2])
      await send(port, { compression: 'gzip', rawLen }, bomb);
  },
};

async function calm(leader: Role, fds: number): Promise<number> {
  for (;;) {
    const now = await usage(leader.pid);
    if (now.fds <= fds) return now.rssMiB;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

if (process.platform === 'linux') {
  hostile('what hostile peers did is gone when they are: no descriptor, no memory, no delay', async () => {
    await using folder = await stateFolder();
    await using leader = await leaderRole(folder.dir);
    await using _worker = await workerRole(leader.port, 'w');
    await using client = await connectClient({ address: { port: leader.port } });
    for (let i = 0; i < 50; i += 1) await client.run(Echo, i);
    const before = await usage(leader.pid);
    for (const [name, row] of Object.entries(rows)) {
      await row(leader.port);
      assert.is(await client.run(Echo, name, { withinMs: 5_000 }), name);
      const rssMiB = await calm(leader, before.fds + 1);
      assert.ok(rssMiB < before.rssMiB + 96, `${name}: ${rssMiB} MiB, ${before.rssMiB} before`);
    }
  });
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: JobsError) => error.code,
  );
}

const fatal = (error: Error): void => assert.unreachable(error.message);

hostile('a flood of wrong keys lets nobody in; whoever has the right one elsewhere goes on', async () => {
  await using folder = await stateFolder();
  const key = 'a'.repeat(64);
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k', key }], submit: ['>'] }]);
  await using leader = await startLeader({
    dir: folder.dir,
    auth: { kind: 'hmac', identities },
    onFatal: fatal,
  });
  const { address } = leader;
  await using ann = await connectClient({ address, auth: { kind: 'hmac', keyId: 'k', key } });
  const wrong = { kind: 'hmac', keyId: 'k', key: 'b'.repeat(64) } as const;
  const tries = Array.from({ length: 30 }, () =>
    codeOf(connectClient({ address, auth: wrong, withinMs: 1_000 })),
  );
  for (const code of await Promise.all(tries))
    assert.ok(['ERR_LEADER_REFUSED', 'ERR_LEADER_UNREACHABLE'].includes(code), code);
  assert.ok((await ann.submit(Echo, 1, { withinMs: 5_000 })).id);
  assert.is(leader.connections, 1);
});

hostile('a peer that stalls in the TLS handshake is put out in time', async () => {
  await using folder = await stateFolder();
  const authority = new CertificateAuthority('test');
  const { cert, key } = authority.issue({ name: 'leader', hosts: ['localhost'] });
  await using leader = await startLeader({
    dir: folder.dir,
    tls: { cert, key },
    transportLimits: { tlsHandshakeMs: 200 },
    onFatal: fatal,
  });
  const { address } = leader;
  const port = 'port' in address ? address.port : 0;
  const stalled = await Promise.all(Array.from({ length: 20 }, () => dial(port)));
  for (const socket of stalled) socket.write(Buffer.from('160301', 'hex'));
  const tls = { ca: authority.cert, serverName: 'localhost' };
  await using client = await connectClient({ address, tls });
  assert.ok((await client.submit(Echo, 1)).id);
  await Promise.all(stalled.map(closed));
});

hostile.run();
