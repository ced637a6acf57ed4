// timeout: 60s, alone
// Peers that read slowly over real sockets: the bytes that wait for them are bounded, and they get everything (ADR 0416).
import { connect } from 'node:net';
import { defineJob, handle, type LeaderServer } from '@troupe/jobs';
import {
  type CloseReason,
  type Connection,
  Dialer,
  type ListenerEvent,
  NO_HEADER,
  nodeClock,
  nodeNet,
  type ReceivedFrame,
  type Role,
} from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeClient, encodeClientHello, readToClient } from '#src/wire/client/client-codec.js';
import { WireReader } from '#src/wire/wire-reader.js';
import { encodeWorkerHello, readToWorker } from '#src/wire/worker/worker-codec.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const slow = suite('slow readers');

const MIB = 1024 * 1024;
const TEXT = 'x'.repeat(100 * 1024);
const COUNT = 800;
/** The outbox, the bytes that wait beside it, one slice, and some garbage. */
const WAITING_MIB_MAX = 40;
const Same = defineJob('slow.same', { input: anything, output: anything, limits: { outputBytes: MIB } });

const fatal = (error: Error): void => assert.unreachable(error.message);

function portOf({ address }: LeaderServer): number {
  return 'port' in address ? address.port : 0;
}

/** A peer that has passed the handshake and reads on demand. */
class SlowPeer implements AsyncDisposable {
  readonly frames: ReceivedFrame[] = [];
  reason: CloseReason | undefined = undefined;
  private readonly dialer: Dialer;
  private connection: Connection | undefined = undefined;

  constructor(port: number, role: Role) {
    this.dialer = new Dialer({
      net: nodeNet,
      clock: nodeClock,
      address: { port },
      role,
      limits: { bodyBytesMax: 64 * MIB },
      onConnection: (connection) => {
        this.connection = connection;
        return {
          onFrame: (frame) => this.frames.push(frame),
          onClose: (reason) => {
            this.reason = reason;
            this.dialer.close();
          },
        };
      },
    });
  }

  async ready(): Promise<Connection> {
    await until(() => this.connection !== undefined);
    return this.connection as Connection;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dialer.close();
    this.connection?.destroy();
    await until(() => this.reason !== undefined);
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

type Encode = (out: ByteWriter, emit: (type: number, out: ByteWriter) => void) => void;

function writeMessage(connection: Connection, encode: Encode): void {
  encode(new ByteWriter(), (type, out) => void connection.write(type, NO_HEADER, out.take()));
}

/** Memory outside the heap, where buffers of this size are: it grows by the bytes that wait for a peer. */
function bytesMiB(): number {
  return process.memoryUsage().arrayBuffers / MIB;
}

/** Until memory does not change for 300 ms. */
async function atRest(): Promise<void> {
  for (let before = -1; before !== bytesMiB(); ) {
    before = bytesMiB();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

slow('a slow client gets every result, while only a few megabytes wait for it', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const port = portOf(leader);
  const handlers = [handle(Same, (input) => input)];
  {
    await using _worker = await startWorker({ address: { port }, name: 'w', handlers, cpuCap: 1 });
    await using client = await connectClient({ address: { port } });
    await Promise.all(Array.from({ length: COUNT }, () => client.run(Same, TEXT)));
  }
  await using peer = new SlowPeer(port, 'client');
  const connection = await peer.ready();
  await atRest();
  const before = bytesMiB();
  writeMessage(connection, (out, emit) => encodeClientHello({ client: 'slow', token: 't' }, out, emit));
  await until(() => peer.frames.length > 0);
  connection.pause();
  const jobs = Array.from({ length: COUNT }, (_, i) => i + 1);
  writeMessage(connection, (out, emit) => encodeClient({ kind: 'await', jobs }, out, emit));
  await atRest();
  assert.ok(bytesMiB() - before < WAITING_MIB_MAX, `${bytesMiB() - before} MiB wait for it`);
  connection.resume();
  const got = new Map<number, string>();
  await until(() => {
    for (const { type, body } of peer.frames.splice(0)) {
      const message = readToClient(type, new WireReader(body));
      if (message?.kind !== 'outcomes') continue;
      for (const { job, state, result } of message.items) {
        assert.not.ok(got.has(job), `job ${job} twice`);
        got.set(job, `${state} ${result?.length}`);
      }
    }
    return got.size === COUNT || peer.reason !== undefined;
  });
  assert.is(peer.reason, undefined);
  assert.equal([...new Set(got.values())], [`done ${TEXT.length + 2}`]);
});

slow('a slow worker gets every job, while only a few megabytes wait for it', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const port = portOf(leader);
  await using client = await connectClient({ address: { port } });
  for (let i = 0; i < COUNT; i += 50)
    await Promise.all(Array.from({ length: 50 }, () => client.submit(Same, TEXT)));
  await using peer = new SlowPeer(port, 'worker');
  const connection = await peer.ready();
  await atRest();
  const before = bytesMiB();
  connection.pause();
  const hello = { worker: 'w', incarnation: 'i', execs: [Same.exec], patterns: ['job.assign.>'], held: [] };
  const credit = { jobs: COUNT, bytes: 1024 * MIB };
  writeMessage(connection, (out, emit) => encodeWorkerHello({ ...hello, slots: COUNT, credit }, out, emit));
  await until(async () => (await leader.overview()).counts.running === COUNT);
  await atRest();
  assert.ok(bytesMiB() - before < WAITING_MIB_MAX, `${bytesMiB() - before} MiB wait for it`);
  connection.resume();
  const got = new Set<number>();
  await until(() => {
    for (const { type, body } of peer.frames.splice(0)) {
      const message = readToWorker(type, new WireReader(body));
      if (message?.kind === 'assign') for (const { job } of message.items) got.add(job);
    }
    return got.size === COUNT || peer.reason !== undefined;
  });
  assert.is(peer.reason, undefined);
});

slow('a slow worker of the minimal dialect gets as many jobs as its credit', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const port = portOf(leader);
  const count = 200;
  const frame = (type: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(9);
    head.writeInt32LE(5 + payload.length, 0);
    head.writeUInt8(type, 4);
    head.writeInt32LE(payload.length, 5);
    return Buffer.concat([head, payload]);
  };
  const client = connect(port, '127.0.0.1');
  client.write(frame(9, Buffer.alloc(0)));
  for (let i = 0; i < count; i += 1) client.write(frame(1, Buffer.from(TEXT)));
  client.end();
  await until(async () => (await leader.overview()).counts.queued === count);
  const worker = connect(port, '127.0.0.1');
  let bytes = 0;
  let closed = false;
  worker.on('close', () => {
    closed = true;
  });
  const credit = Buffer.alloc(4);
  credit.writeInt32LE(count, 0);
  worker.write(Buffer.concat([frame(10, Buffer.alloc(0)), frame(4, credit)]));
  await until(async () => (await leader.overview()).counts.running === count);
  await new Promise((resolve) => setTimeout(resolve, 200));
  worker.on('data', (chunk) => {
    bytes += chunk.length;
  });
  await until(() => closed || bytes === count * (9 + TEXT.length));
  assert.is(bytes, count * (9 + TEXT.length));
  worker.destroy();
});

slow(
  'a client that requests more than it reads gets no more answers and is cut off with an event',
  async () => {
    await using folder = await tempFolder();
    const events: ListenerEvent[] = [];
    await using leader = await startLeader({
      dir: folder.path,
      onFatal: fatal,
      transportLimits: { writeMs: 1_500 },
      onEvent: (event) => events.push(event),
    });
    const port = portOf(leader);
    await using client = await connectClient({ address: { port } });
    await client.submitAll(
      Same,
      Array.from({ length: 1_000 }, () => 'small'),
    );
    await using peer = new SlowPeer(port, 'client');
    const connection = await peer.ready();
    writeMessage(connection, (out, emit) => encodeClientHello({ client: 'slow', token: 't' }, out, emit));
    await until(() => peer.frames.length > 0);
    connection.pause();
    const request = { kind: 'list', state: 'queued', after: 0, max: 1_000 } as const;
    for (let call = 1; call <= 400; call += 1)
      writeMessage(connection, (out, emit) => encodeClient({ kind: 'call', call, request }, out, emit));
    const before = process.memoryUsage().heapUsed;
    await until(() => events.some((event) => event.kind === 'closed'));
    const grownMib = (process.memoryUsage().heapUsed - before) / MIB;
    assert.ok(grownMib < WAITING_MIB_MAX, `${grownMib} MiB wait for it`);
    const closed = events.find((event) => event.kind === 'closed');
    assert.equal(closed?.kind === 'closed' && closed.reason, { kind: 'slow-reader' });
    assert.is((await client.overview()).counts.queued, 1_000);
  },
);

slow.run();
