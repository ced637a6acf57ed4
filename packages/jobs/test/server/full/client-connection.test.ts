import type { Delivered } from '@troupe/core';
import type { ReceivedFrame, SessionConnection } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import type { AnyPort, ClientOpened, FromClient, PeerPort } from '#src/protocol/leader-interface.js';
import { ClientConnection, type ClientSessionRef } from '#src/server/full/client-connection.js';
import type { SessionSetup } from '#src/server/session-setup.js';
import { encodeClient, encodeClientHello, readToClient } from '#src/wire/client/client-codec.js';
import { WireReader } from '#src/wire/wire-reader.js';
import { Echo } from '../../remote/sample-jobs.js';

const connections = suite('connection of a client');

/** A session whose socket and leader are played by the test. */
function rig() {
  let inFlight = 0;
  let isFull = false;
  let makeRoom: () => void = () => undefined;
  const frames: ReceivedFrame[] = [];
  const kinds: string[] = [];
  const written: ToClient[] = [];
  const handled: (() => void)[] = [];
  const rooms: AnyPort[] = [];
  const ports: PeerPort<ToClient>[] = [];
  /** Messages that wait for room at the leader. */
  const waiting: (() => void)[] = [];
  let isLeaderFull = false;
  const taken = (): Promise<void> | undefined =>
    isLeaderFull ? new Promise((resolve) => waiting.push(resolve)) : undefined;
  // Only the parts that a session uses.
  const connection = {
    handshake: { authMethod: 'none', dialect: 'full', creditMax: 1 },
    nextFrame: () => frames.shift() ?? null,
    write: (type: number, _header: unknown, body: Uint8Array) => {
      written.push(readToClient(type, new WireReader(body.slice())) as ToClient);
      return isFull ? 'backpressure' : 'accepted';
    },
    whenWritable: () =>
      new Promise<void>((resolve) => {
        makeRoom = resolve;
      }),
    requestStarted: () => {
      inFlight += 1;
    },
    requestEnded: () => {
      inFlight -= 1;
    },
  };
  const leader = {
    helloClient: ({ port }: ClientOpened) => void ports.push(port),
    fromClient: ({ message, port, bytes }: FromClient) => {
      kinds.push(message.kind);
      if (bytes !== undefined) handled.push(() => port.handled?.(bytes));
      return taken();
    },
    writable: (port: AnyPort) => void rooms.push(port),
  };
  const setup = {
    connection: connection as unknown as SessionConnection,
    leader: leader as unknown as SessionSetup['leader'],
    messageLimits: { itemsMax: 100, payloadBytesMax: 1_000, bytesMax: 1_000 },
  };
  const deliver = (message: ToClient): Delivered => {
    void session.deliver(message);
    return 'accepted';
  };
  const self = {
    offer: { receipts: deliver, outcomes: deliver, answer: deliver, welcome: deliver },
    tell: { writable: () => void session.writable() },
  };
  const session: ClientConnection = new ClientConnection(self as unknown as ClientSessionRef, setup);
  const receive = (type: number, out: ByteWriter): void => {
    frames.push({ type, header: {}, body: out.take(), incoming: null } as unknown as ReceivedFrame);
  };
  encodeClientHello({ client: 'c', token: 't' }, new ByteWriter(), receive);
  void session.read();
  return {
    kinds,
    written,
    rooms,
    port: ports[0] as PeerPort<ToClient>, // the hello has been read
    receive: (message: ClientMessage) => encodeClient(message, new ByteWriter(), receive),
    read: () => session.read(),
    inFlight: () => inFlight,
    /** The leader handles its messages. */
    handle: () => {
      for (const run of handled.splice(0)) run();
    },
    fillOutbox: () => {
      isFull = true;
    },
    emptyOutbox: async () => {
      isFull = false;
      makeRoom();
      await Promise.resolve();
    },
    fillLeader: () => {
      isLeaderFull = true;
    },
    emptyLeader: () => {
      isLeaderFull = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

const item = { seq: 1, ref: 1, payload: '1', key: '', delayMs: 0, wantsOutcome: false };
const ended = { state: 'done', reason: '', failure: undefined } as const;

connections(
  'a request counts as in flight until its answer, a message without an answer until it is handled',
  () => {
    const unanswered: readonly ClientMessage[] = [
      { kind: 'define', ref: 1, policy: Echo.policy },
      { kind: 'await', jobs: [1, 2, 3] },
      { kind: 'heartbeat' },
      { kind: 'submit', low: 0, items: [] },
    ];
    for (const message of unanswered) {
      const { receive, read, inFlight, handle, kinds } = rig();
      for (let i = 0; i < 10; i += 1) receive(message);
      void read();
      assert.is(inFlight(), 10, message.kind);
      handle();
      assert.is(inFlight(), 0, message.kind);
      assert.is(kinds.length, 10);
    }
    const { receive, read, inFlight, handle, port } = rig();
    receive({ kind: 'submit', low: 0, items: [item, { ...item, seq: 2 }] });
    receive({ kind: 'call', call: 1, request: { kind: 'overview' } });
    void read();
    handle();
    assert.is(inFlight(), 3, 'these are answered');
    const receipt = { seq: 1, jobs: [7], lsn: 1, duplicate: false, refusal: undefined };
    port.offer({ kind: 'receipts', items: [receipt] });
    assert.is(inFlight(), 2);
  },
);

connections('a session is full while its outbox is, and then reports that it is writable', async () => {
  const { port, written, rooms, fillOutbox, emptyOutbox } = rig();
  const outcomes = (job: number) => ({ kind: 'outcomes', items: [{ ...ended, job, result: '1' }] }) as const;
  fillOutbox();
  assert.is(port.offer(outcomes(7)), 'accepted');
  assert.is(port.offer(outcomes(8)), 'full', 'the outbox is above its high mark');
  assert.equal(rooms, []);
  await emptyOutbox();
  assert.equal(rooms, [port]);
  assert.is(port.offer(outcomes(8)), 'accepted');
  assert.is(port.offer(outcomes(9)), 'accepted');
  assert.equal(written, [outcomes(7), outcomes(8), outcomes(9)]);
});

connections('a large message is cut, and its rest waits for room', async () => {
  const { port, written, fillOutbox, emptyOutbox } = rig();
  const result = 'x'.repeat(600_000);
  const items = [1, 2, 3].map((job) => ({ ...ended, job, result }));
  fillOutbox();
  port.offer({ kind: 'outcomes', items });
  const jobs = (): number[] =>
    written.flatMap((message) => (message.kind === 'outcomes' ? message.items.map(({ job }) => job) : []));
  assert.equal(jobs(), [1, 2], 'about a mebibyte');
  await emptyOutbox();
  assert.equal(jobs(), [1, 2, 3]);
});

connections('a client has a bounded number of unanswered calls at the leader', () => {
  const { receive, read, kinds, port } = rig();
  for (let call = 1; call <= 20; call += 1) receive({ kind: 'call', call, request: { kind: 'overview' } });
  void read();
  assert.is(kinds.length, 16);
  port.offer({ kind: 'answer', call: 1, answer: { kind: 'count', count: 1 } });
  assert.is(kinds.length, 17);
});

connections('a client that does not read is not read from', async () => {
  const { receive, read, kinds, port, fillOutbox, emptyOutbox } = rig();
  fillOutbox();
  port.offer({ kind: 'outcomes', items: [{ ...ended, job: 7, result: '1' }] });
  receive({ kind: 'heartbeat' });
  void read();
  assert.equal(kinds, []);
  await emptyOutbox();
  assert.equal(kinds, ['heartbeat']);
});

connections('a full mailbox of the leader holds back the next frame', async () => {
  const { receive, read, kinds, fillLeader, emptyLeader } = rig();
  fillLeader();
  receive({ kind: 'submit', low: 0, items: [item] });
  receive({ kind: 'heartbeat' });
  const reading = read();
  assert.equal(kinds, ['submit'], 'the second frame is not taken');
  emptyLeader();
  await reading;
  assert.equal(kinds, ['submit', 'heartbeat']);
});

connections.run();
