// timeout: 60s
// Hostile peers that leak rather than delay: when they are gone, so are their descriptors and memory.
import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { JobsError } from '@troupe/jobs';
import { Dialer, IdentityStore, nodeClock, nodeNet } from '@troupe/transport';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { connectClient, startLeader } from '../checked-processes.js';
import { leaderProcess, type RoleProcess, workerProcess } from '../remote/role-process.js';
import { Echo } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';

const hostile = suite('hostile leaks');

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

/** A peer of the full dialect that sends one frame with a given header. */
function sendFrame(port: number, header: object, body: Buffer): Promise<void> {
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

const attacks: Readonly<Record<string, (port: number) => Promise<void>>> = {
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
  'compression bombs and false lengths': async (port) => {
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    for (const rawLen of [16 * 1024 * 1024, 1, bomb.length * 2])
      await sendFrame(port, { compression: 'gzip', rawLen }, bomb);
  },
};

async function rssAtRest(leader: RoleProcess, fds: number): Promise<number> {
  for (;;) {
    const now = await usage(leader.pid);
    if (now.fds <= fds) return now.rssMiB;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

if (process.platform === 'linux') {
  hostile('hostile peers leave no descriptor, no memory and no delay behind', async () => {
    await using folder = await tempFolder();
    await using leader = await leaderProcess(folder.path);
    await using _worker = await workerProcess(leader.port, 'w');
    await using client = await connectClient({ address: { port: leader.port } });
    for (let i = 0; i < 50; i += 1) await client.run(Echo, i);
    const before = await usage(leader.pid);
    for (const [name, attack] of Object.entries(attacks)) {
      await attack(leader.port);
      assert.is(await client.run(Echo, name, { withinMs: 5_000 }), name);
      const rssMiB = await rssAtRest(leader, before.fds + 1);
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

hostile('a flood of wrong keys is refused; a right key from another address goes on', async () => {
  await using folder = await tempFolder();
  const key = 'a'.repeat(64);
  const identities = new IdentityStore([{ name: 'ann', keys: [{ id: 'k', key }], submit: ['>'] }]);
  await using leader = await startLeader({
    dir: folder.path,
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
  assert.is(await leader.connections(), 1);
});

hostile('a peer that stalls in the TLS handshake is cut off in time', async () => {
  await using folder = await tempFolder();
  const authority = new CertificateAuthority('test');
  const { cert, key } = authority.issue({ name: 'leader', hosts: ['localhost'] });
  await using leader = await startLeader({
    dir: folder.path,
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
