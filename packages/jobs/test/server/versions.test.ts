// Peers of other versions, on real sockets: a leader refuses only the part that it does not know.

import { Dialer, NO_HEADER, nodeClock, nodeNet, type Role } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { ToClient } from '#src/protocol/client/client-messages.js';
import type { ToWorker } from '#src/protocol/worker/worker-messages.js';
import { encodeClient, encodeClientHello, readToClient } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import type { Emit } from '#src/wire/session-codec.js';
import { WireReader } from '#src/wire/wire-reader.js';
import { encodeWorkerHello, readToWorker } from '#src/wire/worker/worker-codec.js';
import { startLeader } from '../checked-processes.js';
import { Echo } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';

const versions = suite('versions of peers');

const fatal = (error: Error): void => assert.unreachable(error.message);

class Peer<Message extends ToClient | ToWorker> implements Disposable {
  private readonly received: Message[] = [];
  /** Errors of the leader: name and the msgId that it is about. */
  readonly errors: [string, string][] = [];
  private wake: () => void = () => undefined;
  private readonly dialer: Dialer;
  private write: (type: number, out: ByteWriter) => void = () => undefined;
  readonly ready: Promise<void>;
  isClosed = false;
  /** Of the frames from now on. */
  msgId = '';

  constructor(port: number, role: Role, read: (type: number, from: WireReader) => Message | undefined) {
    let onReady: () => void = () => undefined;
    this.ready = new Promise((resolve) => {
      onReady = resolve;
    });
    this.dialer = new Dialer({
      net: nodeNet,
      clock: nodeClock,
      address: { port },
      role,
      onConnection: (connection) => {
        this.write = (type, out) => {
          const header = this.msgId === '' ? NO_HEADER : { msgId: this.msgId };
          connection.write(type, header, out.take());
        };
        onReady();
        return {
          onFrame: ({ type, body }) => {
            const message = read(type, new WireReader(Buffer.from(body)));
            if (message !== undefined) this.received.push(message);
            this.wake();
          },
          onPeerError: ({ name, corrId }) => {
            this.errors.push([name, corrId]);
            this.wake();
          },
          onClose: () => {
            this.isClosed = true;
            this.dialer.close();
            this.wake();
          },
        };
      },
    });
  }

  emit(encode: (out: ByteWriter, emit: Emit) => void): void {
    encode(new ByteWriter(), this.write);
  }

  async next(): Promise<Message> {
    for (;;) {
      const message = this.received.shift();
      if (message !== undefined) return message;
      if (this.isClosed) throw new Error('the connection has ended');
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async closed(): Promise<void> {
    while (!this.isClosed)
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
  }

  [Symbol.dispose](): void {
    this.dialer.close();
  }
}

function portOf(address: unknown): number {
  return (address as { port: number }).port;
}

const hello = { client: 'ann', token: 't' };

versions('an unknown call and an unreadable one are answered, and the connection goes on', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  using peer = new Peer(portOf(leader.address), 'client', readToClient);
  await peer.ready;
  peer.emit((out, emit) => encodeClientHello(hello, out, emit));
  const welcome = await peer.next();
  assert.is(welcome.kind === 'welcome' && welcome.protocol, 1);
  const texts = [
    '{"kind":"later-call","job":1}',
    '{"kind":"list","state":"asleep"}',
    '{"kind":"overview","principal":"no plain name"}',
    'no JSON',
    '[]',
  ];
  for (const [index, text] of texts.entries()) {
    peer.emit((out, emit) => {
      out.int(index);
      out.text(text);
      emit(JobFrameType.Call, out);
    });
    const answer = await peer.next();
    assert.ok(answer.kind === 'answer' && answer.answer.kind === 'unsupported', text);
    assert.is(answer.call, index);
  }
  peer.emit((out, emit) => encodeClient({ kind: 'call', call: 9, request: { kind: 'overview' } }, out, emit));
  const answer = await peer.next();
  assert.is(answer.kind === 'answer' && answer.answer.kind, 'overview');
});

versions('an unknown field of a definition refuses the jobs of that definition and no others', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  using peer = new Peer(portOf(leader.address), 'client', readToClient);
  await peer.ready;
  peer.emit((out, emit) => encodeClientHello(hello, out, emit));
  await peer.next();
  peer.emit((out, emit) => {
    out.int(1);
    out.text(JSON.stringify({ ...Echo.policy, later: 5 }));
    emit(JobFrameType.Define, out);
  });
  peer.emit((out, emit) => encodeClient({ kind: 'define', ref: 2, policy: Echo.policy }, out, emit));
  const item = { payload: '1', key: '', delayMs: 0, wantsOutcome: false };
  const items = [
    { ...item, seq: 1, ref: 1 },
    { ...item, seq: 2, ref: 2 },
  ];
  peer.emit((out, emit) => encodeClient({ kind: 'submit', low: 0, items }, out, emit));
  const codes = new Map<number, string>();
  while (codes.size < 2) {
    const message = await peer.next();
    if (message.kind !== 'receipts') continue;
    for (const { seq, refusal } of message.items) codes.set(seq, refusal?.code ?? 'taken');
  }
  assert.equal([codes.get(1), codes.get(2)], ['ERR_EXEC_UNSUPPORTED', 'taken']);
});

versions('an error of the leader names the message that it is about', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  using peer = new Peer(portOf(leader.address), 'client', readToClient);
  await peer.ready;
  peer.emit((out, emit) => encodeClientHello(hello, out, emit));
  await peer.next();
  peer.msgId = 'unknown-type';
  peer.emit((out, emit) => emit(250, out));
  peer.msgId = 'malformed';
  peer.emit((out, emit) => {
    out.int(7);
    emit(JobFrameType.Define, out);
  });
  await peer.closed();
  assert.equal(peer.errors, [
    ['UNKNOWN_TYPE', 'unknown-type'],
    ['MALFORMED', 'malformed'],
  ]);
});

versions('a hello of another protocol is refused by its version, for good', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  using client = new Peer(portOf(leader.address), 'client', readToClient);
  using worker = new Peer(portOf(leader.address), 'worker', readToWorker);
  await Promise.all([client.ready, worker.ready]);
  client.emit((out, emit) => encodeClientHello({ ...hello, protocol: 2, features: ['new'] }, out, emit));
  const credit = { jobs: 1, bytes: 1 };
  const its = { worker: 'w', incarnation: 'i', execs: [], patterns: ['>'], slots: 1, credit, held: [] };
  worker.emit((out, emit) => encodeWorkerHello({ ...its, protocol: 0 }, out, emit));
  for (const peer of [client, worker]) {
    const refused = await peer.next();
    assert.is(refused.kind === 'refused' && refused.code, 'ERR_SESSION_VERSION');
  }
});

versions.run();
