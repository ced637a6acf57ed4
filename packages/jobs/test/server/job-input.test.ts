import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineJob } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const inputs = suite('inputs of jobs');
const Later = defineJob('later.job', { input: anything, output: anything });

inputs('an input on the disk is read in parts, and concurrent looks get their own', async () => {
  await using folder = await tempFolder();
  const limits = { payloadBytesMax: 4 * 1024 * 1024 };
  await using leader = await startLeader({
    dir: join(folder.path, 'log'),
    limits,
    onFatal: assert.unreachable,
  });
  await using client = await connectClient({ address: leader.address });
  const text = JSON.stringify(Array.from({ length: 300_000 }, (_, i) => i));
  const file = join(folder.path, 'input.json');
  await writeFile(file, text);
  const stored = await client.submitFile(Later, file);
  const small = await client.submit(Later, { a: 1 });
  const looks = await Promise.all([
    stored.input({ bytesMax: 16 * 1024 * 1024 }),
    stored.input({ bytesMax: 10 }),
    small.input(),
    client.open(Later, stored.id).input({ bytesMax: 600_000 }),
  ]);
  const texts = looks.map(({ bytes }) => Buffer.from(bytes).toString());
  assert.ok(texts[0] === text, 'the whole input');
  assert.is(texts[1], text.slice(0, 10));
  assert.equal([texts[2], looks[2]?.kind, looks[2]?.total], ['{"a":1}', 'json', 7]);
  assert.ok(texts[3] === text.slice(0, 600_000), 'a part over several answers');
  assert.equal([looks[1]?.total, looks[1]?.isKept], [text.length, true]);
});

inputs('an input that is bytes is those bytes; that of a cancelled job is not kept', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: assert.unreachable });
  await using client = await connectClient({ address: leader.address });
  const job = await client.submit(Later, new Uint8Array([1, 2, 3]));
  const { bytes, kind, total } = await job.input();
  assert.equal([[...bytes], kind, total], [[1, 2, 3], 'bytes', 3]);
  await job.cancel();
  assert.is((await job.input()).isKept, false);
});

inputs.run();
