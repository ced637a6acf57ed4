// timeout: 60s
import { type ActorRef, createSystem, defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import {
  type ConnectionClosed,
  type ConnectionNotice,
  type ConnectionOpened,
  type ConnectionRef,
  Dialer,
  type FrameArrived,
  NO_HEADER,
  TcpDialer,
  TcpListener,
} from '@troupe/transport';
import { MemoryNetwork } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../net/real-listener.js';

const tcp = suite('tcp actors');

/** Records the events of connections; writes each frame back with `echo`. */
const Recorder = defineActor('recorder', {
  state: (args: { readonly echo: boolean }) => ({
    echo: args.echo,
    bodies: [] as string[],
    open: [] as ConnectionRef[],
    closed: [] as string[],
  }),
  handlers: {
    opened(ctx, { connection }: ConnectionOpened) {
      ctx.state.open.push(connection);
    },
    frame(ctx, { connection, frame }: FrameArrived) {
      ctx.state.bodies.push(frame.body.toString());
      if (ctx.state.echo)
        connection.tell.write({
          type: 64,
          header: { corrId: frame.header.msgId },
          body: frame.detach().body,
        });
    },
    notice(_ctx, _notice: ConnectionNotice) {},
    closed(ctx, { reason, connection }: ConnectionClosed) {
      ctx.state.closed.push(reason.kind);
      ctx.state.open = ctx.state.open.filter((open) => open.id !== connection.id);
    },
    seen: (ctx) => ctx.state,
  },
});

type RecorderRef = ActorRef<typeof Recorder>;

async function pair() {
  const system = createSystem({ name: 'tcp' });
  const server = system.spawn(Recorder, { args: { echo: true }, name: 'server' });
  const client = system.spawn(Recorder, { args: { echo: false }, name: 'client' });
  const listener = system.spawn(TcpListener, { args: { receiver: server }, name: 'listener' });
  const address = await listener.ask.address();
  const dialer = system.spawn(TcpDialer, {
    args: { receiver: client, address, role: 'peer', backoff: { fromMs: 20, toMs: 40 } },
    name: 'dialer',
  });
  return { system, server, client, listener, dialer, address };
}

async function connectionOf(recorder: RecorderRef): Promise<ConnectionRef> {
  let open = (await recorder.ask.seen()).open;
  for (let i = 0; i < 400 && open.length === 0; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    open = (await recorder.ask.seen()).open;
  }
  const [connection] = open;
  if (connection === undefined) throw new Error('no connection');
  return connection;
}

tcp('all frames between two actors arrive in order', async () => {
  const { system, client } = await pair();
  await using _ = system;
  const connection = await connectionOf(client);
  const sent = Array.from({ length: 20_000 }, (_, i) => `message ${i}`);
  for (const [i, text] of sent.entries()) {
    await connection.send.write({ type: 64, header: { msgId: `${i}` }, body: Buffer.from(text) });
  }
  const state = await client.ask.seen();
  await until('all echoes', () => state.bodies.length === sent.length);
  assert.equal(state.bodies, sent);
});

tcp('a slow receiver mutes the sender, and no frame is lost', async () => {
  const system = createSystem({ name: 'tcp' });
  await using _ = system;
  const Slow = defineActor('slow', {
    state: (args: { readonly count: number[] }) => args,
    handlers: {
      opened(_ctx, _opened: ConnectionOpened) {},
      async frame(ctx, _inbound: FrameArrived) {
        ctx.state.count.push(1);
        if (ctx.state.count.length % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      },
      notice(_ctx, _notice: ConnectionNotice) {},
      closed(_ctx, _closed: ConnectionClosed) {},
    },
    mailbox: { capacity: 10, overflow: 'reject' },
  });
  const count: number[] = [];
  const slow = system.spawn(Slow, { args: { count } });
  const client = system.spawn(Recorder, { args: { echo: false } });
  const listener = system.spawn(TcpListener, { args: { receiver: slow } });
  system.spawn(TcpDialer, {
    args: { receiver: client, address: await listener.ask.address(), role: 'peer' },
  });
  const connection = await connectionOf(client);
  const body = Buffer.alloc(10_000);
  for (let i = 0; i < 2_000; i += 1) await connection.send.write({ type: 64, header: NO_HEADER, body });
  await until('all frames', () => count.length === 2_000, 30_000);
});

tcp('a close is delivered once, and the dialer redials', async () => {
  const { system, server, client, listener } = await pair();
  await using _ = system;
  const first = await connectionOf(client);
  const there = await connectionOf(server);
  there.tell.close();
  const state = await client.ask.seen();
  await until('the loss', () => state.closed.length === 1);
  await until('another connection', () => state.open.length === 1 && state.open[0]?.id !== first.id);
  assert.is(await listener.ask.connections(), 1);
  await connectionOf(server);
  assert.equal((await server.ask.seen()).closed, ['local']);
});

tcp('the stop of a listener closes its connections', async () => {
  const { system, client, listener } = await pair();
  await using _ = system;
  await connectionOf(client);
  await system.stop(listener);
  const state = await client.ask.seen();
  await until('the end', () => state.closed.length >= 1);
});

tcp('a handshake that ends while the system stops is closed', async () => {
  const testSystem = createTestSystem({ name: 'stopping' });
  const network = new MemoryNetwork({ clock: testSystem.host });
  const server = testSystem.system.spawn(Recorder, { args: { echo: true } });
  testSystem.system.spawn(TcpListener, {
    args: {
      receiver: server,
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
  const second = system.spawn(TcpListener, { args: { receiver: server, address }, restart: 'temporary' });
  await until('the failure', () => failures.length === 1);
  assert.match(failures[0] ?? '', /EADDRINUSE/);
  assert.is.not(second.path, '');
});

tcp('actors and the memory network run in virtual time', async () => {
  const testSystem = createTestSystem({ name: 'virtual' });
  const network = new MemoryNetwork({
    clock: testSystem.host,
    chunking: 'random',
    latencyMs: { from: 1, to: 9 },
    seed: 5,
  });
  const server = testSystem.system.spawn(Recorder, { args: { echo: true } });
  const client = testSystem.system.spawn(Recorder, { args: { echo: false } });
  testSystem.system.spawn(TcpListener, {
    args: {
      receiver: server,
      net: network.machine('leader'),
      clock: testSystem.host,
      address: { port: 7000 },
    },
  });
  testSystem.system.spawn(TcpDialer, {
    args: {
      receiver: client,
      net: network.machine('peer'),
      clock: testSystem.host,
      address: { host: 'leader', port: 7000 },
      role: 'client',
    },
  });
  await testSystem.advance(100);
  const asked = client.ask.seen();
  await testSystem.advance(1);
  const state = await asked;
  for (let i = 0; i < 100; i += 1)
    state.open[0]?.tell.write({ type: 64, header: NO_HEADER, body: Buffer.from(`${i}`) });
  await testSystem.advance(200);
  assert.equal(
    state.bodies,
    Array.from({ length: 100 }, (_, i) => `${i}`),
  );
  network.crash('leader');
  await testSystem.advance(1_000);
  assert.equal(state.closed, ['socket-error']);
});

tcp.run();
