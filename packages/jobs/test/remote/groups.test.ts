import { defineJob, handle, JobsError, startGroupWorker } from '@troupe/jobs';
import { connectGroups } from '@troupe/jobs/client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startLeader } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const groups = suite('groups with leaders of their own');
const Mail = defineJob('mail.send', { input: anything, output: anything });
const Bill = defineJob('billing.charge', { input: anything, output: anything });
const Other = defineJob('other.work', { input: anything, output: anything });

function fail(error: Error): never {
  throw error;
}

groups('a client with a map submits to the leader of each group and gathers lists', async () => {
  await using mailFolder = await tempFolder();
  await using restFolder = await tempFolder();
  await using mail = await startLeader({ dir: mailFolder.path, onFatal: fail });
  await using rest = await startLeader({ dir: restFolder.path, onFatal: fail });
  const leaders = { mail: mail.address, billing: rest.address, '*': rest.address };
  await using client = await connectGroups({ leaders, name: 'shop' });
  const [letter, bill] = [await client.submit(Mail, 1, { key: 'a' }), await client.submit(Bill, 2)];
  assert.equal(await counts(), [1, 1]);
  const waiting = await client.list('queued');
  assert.equal(
    waiting.map(({ exec, id }) => [exec, id]),
    [
      ['mail.send', letter.id],
      ['billing.charge', bill.id],
    ],
  );
  assert.is((await client.list('queued', { max: 1 })).length, 1);
  assert.equal(
    (await client.search({ exec: 'billing.charge' })).map(({ id }) => id),
    [bill.id],
  );
  await client.queue('billing/billing.charge').pause();
  await using worker = await startGroupWorker({
    leaders,
    name: 'w',
    cpuCap: 1,
    handlers: [handle(Mail, (x) => x), handle(Bill, (x) => x), handle(Other, (x) => x)],
  });
  assert.equal([...worker.execs].sort(), ['billing.charge', 'mail.send', 'other.work']);
  assert.is(await (await client.openByKey(Mail, 'a'))?.result(), 1);
  assert.is(await client.run(Other, 3), 3);
  assert.is((await bill.inspect()).state, 'queued', 'its queue is paused at its own leader');
  await client.queue('billing.charge').resume();
  assert.is(await client.open(Bill, bill.id).result(), 2);

  async function counts(): Promise<number[]> {
    return (await client.overviews()).map(({ accepted }) => accepted);
  }
});

groups('a group without a leader is refused before anything is sent', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fail });
  const leaders = { mail: leader.address };
  await using client = await connectGroups({ leaders });
  const refused = await client.submit(Bill, 1).catch((error: unknown) => error);
  assert.instance(refused, JobsError);
  assert.is((await client.overviews())[0]?.accepted, 0);
  const worker = await startGroupWorker({ leaders, name: 'w', handlers: [handle(Bill, (x) => x)] }).catch(
    (error: unknown) => error,
  );
  assert.instance(worker, JobsError);
});

groups('leaders of which one cannot be reached are none', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fail });
  const leaders = { mail: leader.address, billing: { path: `${folder.path}/none.sock` } };
  const refused = await connectGroups({ leaders, withinMs: 200 }).catch(
    (error: { code: string }) => error.code,
  );
  assert.is(refused, 'ERR_LEADER_UNREACHABLE');
});

groups.run();
