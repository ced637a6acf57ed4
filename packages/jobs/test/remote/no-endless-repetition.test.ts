// A leader that cannot read the messages of this version, as a later or an earlier one may.
import { defineJob, handle, type JobsError } from '@troupe/jobs';
import { Listener, NO_HEADER, nodeClock, nodeNet } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeToClient } from '#src/wire/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { encodeToWorker } from '#src/wire/worker-codec.js';
import { connectClient, startWorker } from '../checked-processes.js';
import { anything } from '../plain-schema.js';

const repetition = suite('no endless repetition');
const Job = defineJob('some.job', { input: anything, output: anything });
const backoff = { fromMs: 1, toMs: 2 };

/** Welcomes every session, and reads no other message. */
class DeafLeader implements Disposable {
  connections = 0;
  readonly address: Promise<{ readonly port: number }>;
  private readonly listener: Listener;

  constructor() {
    let bound: (address: { readonly port: number }) => void = () => undefined;
    this.address = new Promise((resolve) => {
      bound = resolve;
    });
    this.listener = new Listener({
      net: nodeNet,
      clock: nodeClock,
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
              return encodeToClient({ ...welcome, outstandingMax: 9, payloadBytesMax: 99 }, out, emit);
            if (type === JobFrameType.WorkerHello)
              return encodeToWorker({ ...welcome, heartbeatMs: 10 }, out, emit);
            connection.writeError('MALFORMED', { field: 'message' });
            connection.close();
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

repetition('a client whose messages are malformed for its leader rejects its calls', async () => {
  using leader = new DeafLeader();
  await using client = await connectClient({ address: await leader.address, backoff });
  const code = await client.submit(Job, 1).then(
    () => 'no error',
    (error: JobsError) => error.code,
  );
  assert.is(code, 'ERR_LEADER_REFUSED');
  assert.is(leader.connections, 5);
});

repetition('a worker whose messages are malformed for its leader is told so, and ends', async () => {
  using leader = new DeafLeader();
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

repetition.run();
