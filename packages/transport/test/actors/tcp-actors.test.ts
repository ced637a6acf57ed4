// timeout: 60s
import { type Actor, createSystem, defineActor, type Ref } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import {
  bodyFromBytes,
  type CloseReason,
  type ConnectionEvents,
  type ConnectionNotice,
  Dialer,
  type FrameHeader,
  type MakeSession,
  type Net,
  NO_HEADER,
  type SessionConnection,
  TcpDialer,
  TcpListener,
  type WriteResult,
} from '@troupe/transport';
import { MemoryNetwork } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../net/real-listener.js';

const tcp = suite('tcp actors');

interface Outbound {
  readonly type: number;
  readonly header: FrameHeader;
  readonly body: Uint8Array;
}

/** Sessions of one side, as the test sees them. */
class Seen {
  readonly open: Ref<PeerProtocol>[] = [];
  readonly bodies: string[] = [];
  readonly closed: CloseReason['kind'][] = [];
  readonly notices: ConnectionNotice['kind'][] = [];
  readonly results: WriteResult[] = [];
}

interface PeerProtocol extends ConnectionEvents {
  write(outbound: Outbound): void;
  writeLarge(outbound: Outbound): void;
  close(): void;
  /** Handles no message until the promise settles. */
  wait(promise: Promise<void>): void;
}

interface PeerArgs {
  readonly connection: SessionConnection;
  readonly seen: Seen;
  readonly echo: boolean;
}

/** Records the events of its connection; writes each frame back with `echo`. */
const Peer: Actor<PeerProtocol, PeerArgs> = defineActor.of<PeerProtocol>()('peer', {
  state: (args: PeerArgs) => args,
  handlers: {
    readable(ctx) {
      const { connection, seen, echo } = ctx.state;
      for (let frame = connection.nextFrame(); frame !== null; frame = connection.nextFrame()) {
        if (frame.incoming !== null) {
          connection.gather(frame, 64_000_000);
          continue;
        }
        const text = frame.body.toString();
        if (text === 'fail') throw new Error('a frame that fails');
        seen.bodies.push(text);
        if (echo) connection.write(64, { corrId: frame.header.msgId }, frame.body);
      }
    },
    write(ctx, { type, header, body }) {
      const { connection, seen } = ctx.state;
      const result = connection.write(type, header, body);
      seen.results.push(result);
      return result === 'backpressure' ? connection.whenWritable() : undefined;
    },
    writeLarge(ctx, { type, header, body }) {
      ctx.state.connection.writeBody(type, header, bodyFromBytes(body));
    },
    close: (ctx) => ctx.state.connection.close(),
    wait: (_ctx, promise) => promise,
    notice(ctx, { kind }) {
      ctx.state.seen.notices.push(kind);
    },
    closed(ctx, { kind }) {
      ctx.state.seen.closed.push(kind);
      ctx.stop();
    },
  },
  stopped(ctx) {
    const { open } = ctx.state.seen;
    const at = open.findIndex((ref) => ref.id === ctx.self.id);
    if (at >= 0) open.splice(at, 1);
  },
  mailbox: { capacity: 16 },
});

function sessionsOf(seen: Seen, echo = false): MakeSession {
  return (connection, spawn) => {
    const ref = spawn(Peer, { args: { connection, seen, echo } });
    seen.open.push(ref);
    return ref;
  };
}

async function pair() {
  const system = createSystem({ name: 'tcp' });
  const server = new Seen();
  const client = new Seen();
  const listener = system.spawn(TcpListener, {
    args: { session: sessionsOf(server, true) },
    name: 'listener',
  });
  const address = await listener.ask.address();
  const dialer = system.spawn(TcpDialer, {
    args: { session: sessionsOf(client), address, role: 'peer', backoff: { fromMs: 20, toMs: 40 } },
    name: 'dialer',
  });
  return { system, server, client, listener, dialer, address };
}

async function connectionOf(seen: Seen): Promise<Ref<PeerProtocol>> {
  await until('a connection', () => seen.open.length > 0);
  return seen.open[0] as Ref<PeerProtocol>; // length was checked
}

/** Counts the writes to the sockets that it dials. */
function countingNet(net: Net, count: { writes: number }): Net {
  return {
    ...net,
    dial: (options, handler) =>
      net.dial(options, {
        ...handler,
        onOpen: (socket) => {
          const write = socket.write.bind(socket);
          socket.write = (pieces) => {
            count.writes += 1;
            return write(pieces);
          };
          handler.onOpen(socket);
        },
      }),
  };
}

/** Both sides in virtual time, on a network in memory. */
async function virtualPair(options: { readonly echo?: boolean; readonly session?: MakeSession } = {}) {
  const testSystem = createTestSystem({ name: 'virtual' });
  const { system, host } = testSystem;
  const advance = (ms: number): Promise<void> => testSystem.advance(ms);
  const network = new MemoryNetwork({
    clock: host,
    chunking: 'random',
    latencyMs: { from: 1, to: 9 },
    seed: 5,
  });
  const server = new Seen();
  const client = new Seen();
  const count = { writes: 0 };
  const listener = system.spawn(TcpListener, {
    args: {
      session: options.session ?? sessionsOf(server, options.echo),
      net: network.machine('leader'),
      clock: host,
      address: { port: 7000 },
    },
    name: 'listener',
  });
  const dialer = (): void => {
    system.spawn(TcpDialer, {
      args: {
        session: sessionsOf(client),
        net: countingNet(network.machine('peer'), count),
        clock: host,
        address: { host: 'leader', port: 7000 },
        role: 'client',
        backoff: { fromMs: 60_000, toMs: 60_000 },
      },
    });
  };
  dialer();
  await advance(100);
  return { system, host, advance, network, count, server, client, listener, dialer };
}

tcp('all frames between two actors arrive in order', async () => {
  const { system, client } = await pair();
  await using _ = system;
  const connection = await connectionOf(client);
  const sent = Array.from({ length: 20_000 }, (_, i) => `message ${i}`);
  for (const [i, text] of sent.entries()) {
    await connection.send.write({ type: 64, header: { msgId: `${i}` }, body: Buffer.from(text) });
  }
  await until('all echoes', () => client.bodies.length === sent.length);
  assert.equal(client.bodies, sent);
});

tcp('a session that handles nothing is not read from, and no frame is lost', async () => {
  const { advance, server, client } = await virtualPair();
  const [there] = server.open;
  const [here] = client.open;
  let goOn: () => void = () => undefined;
  there?.tell.wait(
    new Promise<void>((resolve) => {
      goOn = resolve;
    }),
  );
  const body = Buffer.alloc(10_000, 'x');
  const sent = 2_000;
  const written = (async (): Promise<void> => {
    for (let i = 0; i < sent; i += 1) await here?.send.write({ type: 64, header: NO_HEADER, body });
  })();
  await advance(5_000);
  assert.is(server.bodies.length, 0);
  // 256 KiB of unread frames, and a full outbox at the other end.
  assert.ok(client.results.length < 400, `${client.results.length} frames`);
  assert.ok(client.results.includes('backpressure'));
  goOn();
  await advance(60_000);
  await written;
  assert.is(server.bodies.length, sent);
});

tcp('writes of one turn leave as one write to the socket', async () => {
  const { advance, client, server, count } = await virtualPair();
  const before = count.writes;
  for (let i = 0; i < 10; i += 1)
    client.open[0]?.tell.write({ type: 64, header: NO_HEADER, body: Buffer.from(`${i}`) });
  await advance(1);
  assert.is(count.writes - before, 1);
  await advance(100);
  assert.is(server.bodies.length, 10);
});

tcp('a body in pieces comes whole out of `nextFrame`, between other frames', async () => {
  const { advance, client, server } = await virtualPair();
  const large = Buffer.alloc(9_000_000, 'a');
  client.open[0]?.tell.writeLarge({ type: 65, header: NO_HEADER, body: large });
  client.open[0]?.tell.write({ type: 64, header: NO_HEADER, body: Buffer.from('small') });
  await advance(2_000);
  assert.equal(
    server.bodies.map((body) => body.length),
    [5, large.length],
  );
});

tcp('a session that fails ends alone, with its connection', async () => {
  const { advance, client, server, listener, dialer } = await virtualPair({ echo: true });
  dialer();
  await advance(100);
  assert.is(server.open.length, 2);
  client.open[0]?.tell.write({ type: 64, header: NO_HEADER, body: Buffer.from('fail') });
  await advance(100);
  assert.equal(client.closed, ['peer-closed']);
  assert.is(client.open.length, 1);
  client.open[0]?.tell.write({ type: 64, header: NO_HEADER, body: Buffer.from('hello') });
  await advance(100);
  assert.equal(client.bodies, ['hello']);
  const count = listener.ask.connections();
  await advance(1);
  assert.is(await count, 1);
});

tcp('an error of the function that makes sessions is a failure of the listener', async () => {
  const failures: string[] = [];
  const { system, advance, client, dialer } = await virtualPair({
    session: () => {
      throw new Error('no session for this peer');
    },
  });
  system.subscribe((event) => {
    if (event.kind === 'failed') failures.push(event.error.message);
  });
  dialer();
  await advance(1_000);
  assert.equal(failures, ['no session for this peer']);
  assert.equal(client.open, []);
});

tcp('the end of a session closes its connection', async () => {
  const { system, advance, client, server } = await virtualPair();
  const [there] = server.open;
  if (there !== undefined) void system.stop(there);
  await advance(100);
  assert.equal(client.closed, ['peer-closed']);
});

tcp('a close is delivered once, and the dialer redials', async () => {
  const { system, server, client, listener } = await pair();
  await using _ = system;
  const first = await connectionOf(client);
  const there = await connectionOf(server);
  there.tell.close();
  await until('the loss', () => client.closed.length === 1);
  await until('another connection', () => client.open.length === 1 && client.open[0]?.id !== first.id);
  assert.is(await listener.ask.connections(), 1);
  await connectionOf(server);
  assert.equal(server.closed, ['local']);
});

tcp('the stop of a listener closes its connections', async () => {
  const { system, client, listener } = await pair();
  await using _ = system;
  await connectionOf(client);
  await system.stop(listener);
  await until('the end', () => client.closed.length >= 1);
});

tcp('a handshake that ends while the system stops is closed', async () => {
  const testSystem = createTestSystem({ name: 'stopping' });
  const network = new MemoryNetwork({ clock: testSystem.host });
  testSystem.system.spawn(TcpListener, {
    args: {
      session: sessionsOf(new Seen()),
      net: network.machine('leader'),
      clock: testSystem.host,
      address: { port: 7000 },
    },
  });
  await testSystem.advance(10);
  const lost: string[] = [];
  const dialer = new Dialer({
    net: network.machine('peer'),
    clock: testSystem.host,
    address: { host: 'leader', port: 7000 },
    role: 'client',
    onConnection: () => ({ onFrame: () => undefined, onClose: (reason) => lost.push(reason.kind) }),
  });
  // The socket is accepted and its Hello is in flight when the system begins to stop.
  testSystem.host.moveTo(testSystem.host.now() + 1);
  const stopped = testSystem.system.shutdown();
  await testSystem.advance(5_000);
  await stopped;
  assert.is(dialer.connection, null);
  assert.ok(
    lost.every((kind) => kind === 'peer-closed'),
    lost.join(),
  );
  dialer.close();
});

tcp('an address in use is a failure of the listener only', async () => {
  const { system, address, server } = await pair();
  await using _ = system;
  const failures: string[] = [];
  system.subscribe((event) => {
    if (event.kind === 'failed') failures.push(event.error.message);
  });
  const args = { session: sessionsOf(server), address };
  const second = system.spawn(TcpListener, { args, restart: 'temporary' });
  await until('the failure', () => failures.length === 1);
  assert.match(failures[0] ?? '', /EADDRINUSE/);
  assert.is.not(second.path, '');
});

tcp('actors and the memory network run in virtual time', async () => {
  const { advance, client, network } = await virtualPair({ echo: true });
  const sent = Array.from({ length: 100 }, (_, i) => `${i}`);
  for (const text of sent)
    void client.open[0]?.send.write({ type: 64, header: NO_HEADER, body: Buffer.from(text) });
  await advance(200);
  assert.equal(client.bodies, sent);
  network.crash('leader');
  await advance(1_000);
  assert.equal(client.closed, ['socket-error']);
});

tcp.run();
