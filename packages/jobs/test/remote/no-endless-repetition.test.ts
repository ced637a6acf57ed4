// A leader that cannot read the messages of this version, as a later or an earlier one may.
import { defineJob, handle, type JobsError } from '@troupe/jobs';
import {
  type Connection,
  Listener,
  NO_HEADER,
  nodeClock,
  nodeNet,
  type TransportLimits,
} from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeToClient } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { encodeToWorker } from '#src/wire/worker/worker-codec.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const repetition = suite('no endless repetition');
const Job = defineJob('some.job', { input: anything, output: anything });
const backoff = { fromMs: 1, toMs: 2 };

type Answer = (connection: Connection, type: number) => void;

/** Cannot read a message. */
const malformed: Answer = (connection) => {
  connection.writeError('MALFORMED', { field: 'message' });
  connection.close();
};

/** Answers with a message that cannot be read. */
const unreadable: Answer = (connection, type) =>
  void connection.write(
    type === JobFrameType.Report ? JobFrameType.Assign : JobFrameType.Receipts,
    NO_HEADER,
    Buffer.from([1]),
  );

/** Welcomes every session, and answers every other message in this way. */
class OtherLeader implements Disposable {
  connections = 0;
  readonly address: Promise<{ readonly port: number }>;
  private readonly listener: Listener;

  constructor(answer: Answer, limits: Partial<TransportLimits> = {}) {
    let bound: (address: { readonly port: number }) => void = () => undefined;
    this.address = new Promise((resolve) => {
      bound = resolve;
    });
    this.listener = new Listener({
      net: nodeNet,
      clock: nodeClock,
      limits,
      onListening: (address) => bound({ port: 'port' in address ? address.port : 0 }),
      onConnection: (connection) => {
        this.connections += 1;
        const emit = (type: number, out: ByteWriter): void =>
          void connection.write(type, NO_HEADER, out.take());
        return {
          onFrame: ({ type }) => {
            const out = new ByteWriter();
            const welcome = { kind: 'welcome', tag: 'abcde' } as const;
            if (type === JobFrameType.ClientHello)
              return encodeToClient(
                { ...welcome, outstandingMax: 9, payloadBytesMax: 20_000_000 },
                out,
                emit,
              );
            if (type === JobFrameType.WorkerHello)
              return encodeToWorker({ ...welcome, heartbeatMs: 10 }, out, emit);
            answer(connection, type);
          },
          onClose: () => undefined,
        };
      },
    });
  }

  [Symbol.dispose](): void {
    this.listener.close();
  }
}

/** The code of the error of a promise. */
function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: JobsError) => error.code,
  );
}

repetition('a client whose messages are malformed for its leader rejects its calls', async () => {
  using leader = new OtherLeader(malformed);
  await using client = await connectClient({ address: await leader.address, backoff });
  assert.is(await codeOf(client.submit(Job, 1)), 'ERR_LEADER_REFUSED');
  assert.is(leader.connections, 5);
});

repetition('a client that cannot read the answers of its leader rejects its calls', async () => {
  using leader = new OtherLeader(unreadable);
  await using client = await connectClient({ address: await leader.address, backoff });
  assert.is(await codeOf(client.submit(Job, 1)), 'ERR_LEADER_REFUSED');
  assert.is(leader.connections, 5);
});

repetition('a client whose message is larger than its leader takes rejects its calls', async () => {
  using leader = new OtherLeader(malformed, { bodyBytesMax: 1024 * 1024 });
  await using client = await connectClient({ address: await leader.address, backoff });
  assert.is(await codeOf(client.submit(Job, 'x'.repeat(2_000_000))), 'ERR_LEADER_REFUSED');
  assert.is(leader.connections, 5);
});

repetition('a batch that fits into no record is refused at once, and the client goes on', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({
    dir: folder.path,
    onFatal: (error) => assert.unreachable(error.message),
  });
  let connections = 0;
  await using client = await connectClient({
    address: leader.address,
    onEvent: ({ kind }) => {
      if (kind === 'dialing') connections += 1;
    },
  });
  const inputs = Array.from({ length: 6_000 }, () => 'x'.repeat(2_000));
  assert.is(await codeOf(client.submitAll(Job, inputs)), 'ERR_PAYLOAD_TOO_LARGE');
  // The keys of the jobs, each of up to three bytes a character, and their trace contexts count too.
  const Keyed = defineJob('some.keyed', {
    input: anything,
    output: anything,
    key: (input) => `${input}${'k'.repeat(500)}`,
  });
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const trace = { traceparent, tracestate: 'v'.repeat(512) };
  const few = Array.from({ length: 6_000 }, (_, index) => index);
  assert.is(await codeOf(client.submitAll(Keyed, few, { trace })), 'ERR_PAYLOAD_TOO_LARGE');
  assert.is((await client.submitAll(Job, inputs.slice(0, 1_000))).length, 1_000);
  assert.is(connections, 1);
});

for (const [problem, answer] of [
  ['whose messages are malformed for its leader', malformed],
  ['that cannot read the messages of its leader', unreadable],
] as const) {
  repetition(`a worker ${problem} is told so, and ends`, async () => {
    using leader = new OtherLeader(answer);
    let onRefused: (error: Error) => void = () => undefined;
    const refused = new Promise<Error>((resolve) => {
      onRefused = resolve;
    });
    const worker = await startWorker({
      address: await leader.address,
      name: 'w',
      handlers: [handle(Job, () => 1)],
      heartbeatThread: false,
      backoff,
      onRefused,
    });
    assert.is(((await refused) as JobsError).code, 'ERR_LEADER_REFUSED');
    await worker.close({ withinMs: 0 });
    assert.is(leader.connections, 5);
  });
}

repetition.run();
