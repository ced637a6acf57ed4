// Messages of a peer that knows the protocol and sends too much of it.
import type { LeaderServer } from '@troupe/jobs';
import { bodyFromBytes, type Connection, Dialer, NO_HEADER, nodeClock, nodeNet } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeClientHello } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { connectClient, startLeader } from '../checked-processes.js';
import { Echo } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';

const limits = suite('message limits');

const MIB = 1024 * 1024;
const fatal = (error: Error): void => assert.unreachable(error.message);

interface HostilePeer {
  readonly connection: Connection;
  readonly errors: string[];
  readonly closed: Promise<void>;
}

/** A client of the full dialect, after its hello. */
function peer(leader: LeaderServer): Promise<HostilePeer> {
  const errors: string[] = [];
  return new Promise((resolve) => {
    let onClosed: () => void = () => undefined;
    const closed = new Promise<void>((done) => {
      onClosed = done;
    });
    const dialer = new Dialer({
      net: nodeNet,
      clock: nodeClock,
      address: leader.address,
      role: 'client',
      onConnection: (connection) => {
        encodeClientHello({ client: 'eve', token: 't' }, new ByteWriter(), (type, out) =>
          connection.write(type, NO_HEADER, out.take()),
        );
        setImmediate(() => resolve({ connection, errors, closed }));
        return {
          onFrame: () => undefined,
          onPeerError: ({ name, message }) => void errors.push(`${name}: ${message}`),
          onClose: () => {
            dialer.close();
            onClosed();
          },
        };
      },
    });
  });
}

limits('a list with too many items is refused with a typed error; others are served meanwhile', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  await using healthy = await connectClient({ address: leader.address });
  const { connection, errors, closed } = await peer(leader);
  connection.write(JobFrameType.Await, NO_HEADER, Buffer.alloc(70_000, 1));
  assert.ok((await healthy.submit(Echo, 1, { withinMs: 5_000 })).id);
  await closed;
  assert.equal(errors, ['PAYLOAD_TOO_LARGE: field items']);
  assert.ok((await healthy.submit(Echo, 2, { withinMs: 5_000 })).id);
});

limits('a body without payloads is at most one mebibyte, however it is announced', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  for (const type of [JobFrameType.Await, JobFrameType.Call, JobFrameType.Define]) {
    const { connection, errors, closed } = await peer(leader);
    const outcome = await new Promise((resolve) => {
      connection.writeBody(type, NO_HEADER, bodyFromBytes(Buffer.alloc(8 * MIB, 1)), { onOutcome: resolve });
    });
    assert.is((outcome as { kind: string }).kind, 'stopped');
    await closed;
    assert.equal(errors, ['PAYLOAD_TOO_LARGE: field bodyLength']);
  }
});

limits('the limit of a body is that of a payload with its framing, or of a record', async () => {
  await using folder = await tempFolder();
  for (const [payloadBytesMax, bodyBytesMax] of [
    [MIB, 12 * MIB],
    [8 * MIB, 12 * MIB],
    [32 * MIB, 32 * MIB + 64 * 1024],
  ] as const) {
    await using leader = await startLeader({ dir: folder.path, limits: { payloadBytesMax }, onFatal: fatal });
    const { connection, closed } = await peer(leader);
    assert.is(connection.handshake.peerCapacity.bodyBytesMax, bodyBytesMax);
    connection.close();
    await closed;
  }
});

limits.run();
