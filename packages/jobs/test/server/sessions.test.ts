// Sessions of a leader over a network in memory, in virtual time.
import { defineActor, type Ref } from '@troupe/core';
import { createTestSystem, ManualHost, type TestSystem } from '@troupe/core/testing';
import { type Client, handle, type LeaderServer } from '@troupe/jobs';
import { memoryJournal } from '@troupe/jobs/testing';
import { type Connection, Dialer, NO_HEADER, type Role, TcpListener } from '@troupe/transport';
import { MemoryNetwork } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { LeaderProtocol } from '#src/leader/leader-protocol.js';
import type { ClientMessage } from '#src/protocol/client/client-messages.js';
import type { AnyPort, ClientOpened, FromClient } from '#src/protocol/leader-interface.js';
import { ClientConnection } from '#src/server/full/client-connection.js';
import { offerToLeader } from '#src/server/offer-to-leader.js';
import { SessionMaker } from '#src/server/session-maker.js';
import { encodeClient, encodeClientHello } from '#src/wire/client/client-codec.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { NoDeadLetters, systemOf } from '../no-dead-letters.js';
import { Echo } from '../remote/sample-jobs.js';

const sessions = suite('sessions of a leader');

const address = { host: 'leader', port: 7000 };

class World implements AsyncDisposable {
  readonly host = new ManualHost();
  readonly time: TestSystem = createTestSystem({ host: this.host });
  readonly network = new MemoryNetwork({ clock: this.host, latencyMs: { from: 1, to: 1 } });
  private readonly opened: AsyncDisposable[] = [];
  private readonly deadLetters: NoDeadLetters[] = [];

  /** Moves time until the promise settles. */
  async finish<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    for (let i = 0; i < 20_000 && !isSettled; i += 1) await this.time.advance(1);
    assert.ok(isSettled, 'still waiting after 20 s of virtual time');
    return settled;
  }

  private async open<T extends AsyncDisposable>(promise: Promise<T>): Promise<T> {
    const opened = await this.finish(promise);
    this.opened.push(opened);
    return opened;
  }

  async leader(): Promise<LeaderServer> {
    const { host, network } = this;
    const journal = memoryJournal({ entries: [] }, (run) => host.later(run));
    const net = network.machine('leader');
    const onFatal = (error: Error): void => assert.unreachable(error.message);
    const leader = await this.open(
      startLeader({ host, net, journal, address: { port: address.port }, onFatal }),
    );
    this.watch(leader);
    return leader;
  }

  async worker(): Promise<AsyncDisposable> {
    const handlers = [handle(Echo, (input) => input)];
    const net = this.network.machine('worker');
    const worker = await this.open(
      startWorker({ host: this.host, net, address, name: 'w', handlers, cpuCap: 1 }),
    );
    this.watch(worker);
    return worker;
  }

  client(name: string): Promise<Client> {
    return this.open(connectClient({ host: this.host, net: this.network.machine(name), address, name }));
  }

  /** A dead letter in one of its processes fails the test. */
  private watch(process: object): void {
    this.deadLetters.push(new NoDeadLetters(systemOf(process)));
  }

  /** A connection whose peer the test plays. */
  async raw(role: Role): Promise<{ readonly connection: Connection; readonly dialer: Dialer }> {
    let connection: Connection | undefined;
    const dialer = new Dialer({
      net: this.network.machine('raw'),
      clock: this.host,
      address,
      role,
      onConnection: (open) => {
        connection = open;
        return { onFrame: () => undefined, onClose: () => undefined };
      },
    });
    for (let i = 0; i < 100 && connection === undefined; i += 1) await this.time.advance(1);
    return { connection: connection as Connection, dialer };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.opened.reverse()) await this.finish(Promise.resolve(one[Symbol.asyncDispose]()));
    await this.finish(this.time.system.shutdown());
    for (const letters of this.deadLetters) letters.check();
  }
}

type Encode = (out: ByteWriter, emit: (type: number, out: ByteWriter) => void) => void;

function write(connection: Connection, encode: Encode): void {
  encode(new ByteWriter(), (type, out) => void connection.write(type, NO_HEADER, out.take()));
}

/** The run times of jobs one after another, in virtual milliseconds, sorted. */
async function latencies(world: World, client: Client, jobs: number): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < jobs; i += 1) {
    const startedAt = world.host.now();
    await world.finish(client.run(Echo, i));
    all.push(world.host.now() - startedAt);
  }
  return all.sort((a, b) => a - b);
}

sessions('a client that does not read changes the latency of no other', async () => {
  await using world = new World();
  const leader = await world.leader();
  await world.worker();
  const healthy = await world.client('healthy');
  const large = 'x'.repeat(100_000);
  await world.finish(Promise.all(Array.from({ length: 100 }, () => healthy.run(Echo, large))));
  const alone = await latencies(world, healthy, 50);
  const { connection, dialer } = await world.raw('client');
  write(connection, (out, emit) => encodeClientHello({ client: 'deaf', token: 't' }, out, emit));
  connection.pause();
  const jobs = Array.from({ length: 100 }, (_, i) => i + 1);
  const items = Array.from({ length: 200 }, (_, i) => {
    return { seq: i + 1, ref: 1, payload: '1', key: '', delayMs: 50 + i, wantsOutcome: true };
  });
  // 10 MB are due to it at once, then one outcome after another.
  const messages: readonly ClientMessage[] = [
    { kind: 'define', ref: 1, policy: Echo.policy },
    { kind: 'submit', low: 0, items },
    { kind: 'await', jobs },
  ];
  for (const message of messages) write(connection, (out, emit) => encodeClient(message, out, emit));
  const beside = await latencies(world, healthy, 50);
  assert.equal(beside, alone);
  assert.is(await world.finish(leader.connections()), 3);
  dialer.close();
  connection.destroy();
});

sessions('a session that fails ends alone, with its connection', async () => {
  await using world = new World();
  const leader = await world.leader();
  await world.worker();
  const good = await world.client('good');
  const { connection, dialer } = await world.raw('client');
  assert.is(await world.finish(leader.connections()), 3);
  const { read } = ClientConnection.prototype;
  ClientConnection.prototype.read = () => {
    throw new Error('a planted bug');
  };
  try {
    write(connection, (out, emit) => encodeClientHello({ client: 'bad', token: 't' }, out, emit));
    await world.time.advance(10);
  } finally {
    ClientConnection.prototype.read = read;
  }
  dialer.close();
  assert.is(connection.state, 'closed');
  assert.is(await world.finish(good.run(Echo, 'goes on')), 'goes on');
  assert.is(await world.finish(leader.connections()), 2);
});

sessions('a full mailbox of the leader stops the reading of a connection', async () => {
  await using world = new World();
  const handled: number[] = [];
  let goOn: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const BusyLeader = defineActor('leader', {
    handlers: {
      helloClient(_ctx, _opened: ClientOpened) {},
      submit(_ctx, { message }: FromClient) {
        if (message.kind === 'submit') handled.push(message.items[0]?.seq ?? 0);
        return busy;
      },
      connectionLost(_ctx, _port: AnyPort) {},
    },
    mailbox: { capacity: 4 },
  });
  const { system } = world.time;
  // The test sends it no other messages.
  const leader = system.spawn(BusyLeader) as unknown as Ref<LeaderProtocol>;
  const sessionMaker = new SessionMaker({
    leader: offerToLeader(leader),
    host: world.host,
    messageLimits: { itemsMax: 1_000, payloadBytesMax: 1_000_000, bytesMax: 1_000_000 },
    submitRate: { perSecond: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY },
  });
  const net = world.network.machine('leader');
  system.spawn(TcpListener, {
    args: { net, clock: world.host, address: { port: address.port }, session: sessionMaker.make },
  });
  const { connection, dialer } = await world.raw('client');
  write(connection, (out, emit) => encodeClientHello({ client: 'c', token: 't' }, out, emit));
  const submit = (seq: number): ClientMessage => ({
    kind: 'submit',
    low: 0,
    items: [{ seq, ref: 1, payload: 'x'.repeat(10_000), key: '', delayMs: 0, wantsOutcome: false }],
  });
  const sent = 500;
  for (let seq = 1; seq <= sent; seq += 1)
    write(connection, (out, emit) => encodeClient(submit(seq), out, emit));
  await world.time.advance(2_000);
  assert.equal(handled, [1]);
  assert.ok(connection.outboxBytes > 3_000_000, `${connection.outboxBytes} of 5,000,000 bytes are unread`);
  goOn();
  await world.time.advance(5_000);
  assert.equal(
    handled,
    Array.from({ length: sent }, (_, i) => i + 1),
  );
  assert.is(connection.outboxBytes, 0);
  dialer.close();
  connection.destroy();
  await world.time.advance(100);
});

sessions.run();
