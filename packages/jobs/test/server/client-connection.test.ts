import type { Connection, ReceivedFrame } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { ClientMessage, ToClient } from '#src/protocol/client-messages.js';
import type { FromClient, LeaderForPeers } from '#src/protocol/leader-interface.js';
import { ClientConnection } from '#src/server/client-connection.js';
import type { ConnectionSetup } from '#src/server/connection-setup.js';
import { encodeClient, encodeClientHello, readToClient } from '#src/wire/client-codec.js';
import { WireReader } from '#src/wire/wire-reader.js';
import { Echo } from '../remote/sample-jobs.js';

const connections = suite('client peer');

/** A peer whose connection and leader are played by the test. */
function rig() {
  let inFlight = 0;
  const kinds: string[] = [];
  const tasks: (() => void)[] = [];
  const sent: ToClient[] = [];
  let hasRoom = true;
  const connection = {
    handshake: { authMethod: 'none' },
    write: (type: number, _header: unknown, body: Uint8Array) => {
      if (!hasRoom) return 'full';
      sent.push(readToClient(type, new WireReader(body.slice())) as ToClient);
      return 'accepted';
    },
    requestStarted: () => {
      inFlight += 1;
    },
    requestEnded: () => {
      inFlight -= 1;
    },
  };
  const leader = {
    helloClient: () => undefined,
    fromClient: ({ message, port, bytes }: FromClient) => {
      kinds.push(message.kind);
      if (bytes !== undefined) tasks.push(() => port.handled?.(bytes));
    },
  };
  // Only the parts that the connection uses.
  const setup = {
    connection: connection as unknown as Connection,
    leader: leader as unknown as LeaderForPeers,
    messageLimits: { itemsMax: 100, payloadBytesMax: 1_000, bytesMax: 1_000 },
    waitingBytesMax: 1_000,
    port: () => ({}),
    onClosed: () => undefined,
  } as unknown as ConnectionSetup<ToClient>;
  const peer = new ClientConnection(setup);
  const receive = (type: number, out: ByteWriter): void =>
    peer.onFrame({ type, header: {}, body: out.take(), incoming: null } as unknown as ReceivedFrame);
  encodeClientHello({ client: 'c', token: 't' }, new ByteWriter(), receive);
  return {
    kinds,
    sent,
    deliver: (message: ToClient) => peer.deliver(message),
    /** Whether the connection takes anything; with room it takes what has waited. */
    setRoom: (has: boolean) => {
      hasRoom = has;
      if (has) peer.onWritable();
    },
    receiveMessage: (message: ClientMessage) => encodeClient(message, new ByteWriter(), receive),
    inFlight: () => inFlight,
    /** The leader handles its messages. */
    handled: () => {
      for (const task of tasks.splice(0)) task();
    },
  };
}

const item = { seq: 1, ref: 1, payload: '1', key: '', delayMs: 0, wantsOutcome: false };

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
      const { receiveMessage, inFlight, handled, kinds } = rig();
      for (let i = 0; i < 10; i += 1) receiveMessage(message);
      assert.is(inFlight(), 10, message.kind);
      handled();
      assert.is(inFlight(), 0, message.kind);
      assert.is(kinds.length, 10);
    }
    const { receiveMessage, inFlight, handled } = rig();
    receiveMessage({ kind: 'submit', low: 0, items: [item, { ...item, seq: 2 }] });
    receiveMessage({ kind: 'call', call: 1, request: { kind: 'overview' } });
    handled();
    assert.is(inFlight(), 3, 'these are answered');
  },
);

connections('an outcome without room is requested again later; a receipt is written at once', () => {
  const { receiveMessage, inFlight, handled, deliver, sent, setRoom, kinds } = rig();
  const ended = { state: 'done', reason: '', failure: undefined } as const;
  const receipt = (seq: number) => ({ seq, jobs: [seq + 6], lsn: 1, duplicate: false, refusal: undefined });
  receiveMessage({
    kind: 'submit',
    low: 0,
    items: [1, 2].map((seq) => ({ ...item, seq, wantsOutcome: true })),
  });
  deliver({ kind: 'receipts', items: [receipt(1)] });
  assert.is(inFlight(), 1);
  assert.equal(sent.splice(0), [{ kind: 'receipts', items: [receipt(1)] }]);
  setRoom(false);
  const large = { ...ended, job: 7, result: 'x'.repeat(2_000) };
  deliver({ kind: 'outcomes', items: [large] });
  deliver({ kind: 'receipts', items: [receipt(2)] });
  deliver({ kind: 'outcomes', items: [{ ...ended, job: 8, result: '1' }] });
  assert.is(inFlight(), 0);
  setRoom(true);
  assert.equal(sent, [
    { kind: 'outcomes', items: [large] },
    { kind: 'receipts', items: [receipt(2)] },
  ]);
  handled();
  assert.equal(kinds, ['submit', 'await'], 'the second outcome is requested again');
});

connections.run();
