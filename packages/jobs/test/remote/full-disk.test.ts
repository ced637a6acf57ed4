// timeout: 120s, needs: tmpfs
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defineJob, handle, JobRefusedError } from '@troupe/jobs';
import { verifyWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SmallDisk } from '../chaos/small-disk.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { aString } from '../plain-schema.js';

const full = suite('full disk');
const MIB = 1024 * 1024;
const Measure = defineJob('sample.measure', { input: aString, output: aString });

full('a payload that fills the disk is refused; its connection, the log and others go on', async () => {
  const mounted = await SmallDisk.mount(80);
  if (!(mounted instanceof SmallDisk)) throw new Error(mounted.reason);
  await using disk = mounted;
  const dir = join(disk.path, 'state');
  const closed: string[] = [];
  {
    await using leader = await startLeader({
      dir,
      address: { port: 0 },
      limits: { payloadBytesMax: 64 * MIB },
      wal: { segmentBytes: 16 * MIB, firstSegmentBytes: 16 * MIB, freeBytesSoft: 2 * MIB },
      onEvent: (event) => {
        if (event.kind === 'closed') closed.push(`${event.remote}: ${JSON.stringify(event.reason)}`);
      },
      onFatal: (error) => {
        throw error;
      },
    });
    await using client = await connectClient({ address: leader.address });
    await using _worker = await startWorker({
      address: leader.address,
      name: 'w',
      slots: 1,
      handlers: [handle(Measure, (text) => String(text.length))],
    });
    for (let round = 0; round < 3; round += 1) {
      // More than the disk has; a small one beside it, on the same connection.
      const large = client.submit(Measure, 'x'.repeat(60 * MIB)).then(
        () => assert.unreachable(),
        (error: unknown) => error,
      );
      const small = client.run(Measure, 'abc');
      const refused = await large;
      assert.instance(refused, JobRefusedError);
      assert.is((refused as JobRefusedError).code, 'ERR_DISK_LOW');
      assert.is(await small, '3');
      assert.equal(await readdir(join(dir, 'blobs')), [], 'nothing of it is left');
    }
    assert.is(await client.run(Measure, 'x'.repeat(3 * MIB)), String(3 * MIB));
    assert.equal(closed, [], 'no connection has ended');
  }
  const { ok, wasClean } = await verifyWal(dir);
  assert.equal([ok, wasClean], [true, true]);
});

full.run();
