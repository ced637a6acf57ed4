// timeout: 120s
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { defineJob, handle, JobFailedError, JobRefusedError, type LeaderServer } from '@troupe/jobs';
import { verifyWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, embedded, startLeader, startWorker } from '../checked-processes.js';
import { aString } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { Echo } from './sample-jobs.js';

const stored = suite('stored payloads');
const MIB = 1024 * 1024;
const Measure = defineJob('sample.measure', { input: aString, output: aString });
const measure = handle(Measure, (text) => `${text.length} ${text.slice(0, 3)} ${text.slice(-3)}`);

function textOf(bytes: number, mark: string): string {
  return `${mark}${'x'.repeat(bytes - 2 * mark.length)}${mark}`;
}

function open(
  dir: string,
  limits: { payloadBytesMax: number } = { payloadBytesMax: 32 * MIB },
  address: LeaderServer['address'] = { port: 0 },
): Promise<LeaderServer> {
  return startLeader({
    dir,
    address,
    limits,
    onFatal: (error) => {
      throw error;
    },
  });
}

const blobsOf = (dir: string): Promise<string[]> => readdir(join(dir, 'blobs'));

/** One large job and one small, submitted to a leader that is gone again. */
async function left(dir: string): Promise<{ large: string; small: string }> {
  const leader = await open(dir);
  const client = await connectClient({ address: leader.address });
  const large = await client.submit(Measure, textOf(3 * MIB, 'abc'));
  const small = await client.submit(Echo, 'small');
  client.close();
  await leader.close();
  return { large: large.id, small: small.id };
}

stored(
  'a payload above 1 MiB is a file beside the log, may exceed any record, and reaches the worker',
  async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    await using client = await connectClient({ address: leader.address });
    const handles = await Promise.all(
      ['abc', 'def', 'ghi'].map((mark) => client.submit(Measure, textOf(20 * MIB, mark))),
    );
    assert.is((await blobsOf(folder.path)).length, 3);
    await using _worker = await startWorker({
      address: leader.address,
      name: 'w',
      handlers: [measure],
      cpuCap: 1,
    });
    assert.equal(await Promise.all(handles.map((one) => one.result())), [
      `${20 * MIB} abc abc`,
      `${20 * MIB} def def`,
      `${20 * MIB} ghi ghi`,
    ]);
  },
);

stored('the same key with the same large payload is the same job, with another it is refused', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  await using client = await connectClient({ address: leader.address });
  const first = await client.submit(Measure, textOf(2 * MIB, 'abc'), { key: 'k' });
  const again = await client.submit(Measure, textOf(2 * MIB, 'abc'), { key: 'k' });
  assert.equal([again.id, again.receipt?.duplicate], [first.id, true]);
  const other = await client
    .submit(Measure, textOf(2 * MIB, 'xyz'), { key: 'k' })
    .catch((error: unknown) => error);
  assert.ok(other instanceof JobRefusedError && other.code === 'ERR_KEY_CONFLICT', String(other));
});

stored('a payload beyond the limit is refused, and its stored part is removed', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path, { payloadBytesMax: 2 * MIB });
  await using client = await connectClient({ address: leader.address });
  const refused = await client.submit(Measure, textOf(3 * MIB, 'abc')).catch((error: unknown) => error);
  assert.ok(refused instanceof JobRefusedError && refused.code === 'ERR_PAYLOAD_TOO_LARGE', String(refused));
  assert.ok((await client.submit(Measure, 'small')).id !== '');
});

const damages: Record<string, (file: string) => Promise<void>> = {
  missing: (file) => rm(file),
  'cut short': (file) => truncate(file, MIB),
  altered: async (file) => {
    const bytes = await readFile(file);
    bytes[bytes.length - 10] = 0;
    await writeFile(file, bytes);
  },
};

for (const [what, damage] of Object.entries(damages)) {
  stored(`a payload that is ${what} makes its job a dead letter, and other jobs go on`, async () => {
    await using folder = await tempFolder();
    const jobs = await left(folder.path);
    const [name] = await blobsOf(folder.path);
    await damage(join(folder.path, 'blobs', name ?? ''));
    await using leader = await open(folder.path);
    await using client = await connectClient({ address: leader.address });
    await using _worker = await startWorker({
      address: leader.address,
      name: 'w',
      slots: 1,
      handlers: [measure, handle(Echo, (text) => text)],
      cpuCap: 1,
    });
    const dead = await client
      .open(Measure, jobs.large)
      .result()
      .catch((error: unknown) => error);
    assert.ok(dead instanceof JobFailedError, String(dead));
    assert.equal([dead.reason, dead.failure?.code], ['payload-lost', 'ERR_PAYLOAD_LOST']);
    // With one slot: the credit of the lost one has come back.
    assert.is(await client.open(Echo, jobs.small).result(), 'small');
    assert.is(await client.run(Echo, 'more'), 'more');
  });
}

stored('a worker in the process of the leader gets a stored payload whole', async () => {
  await using folder = await tempFolder();
  const { large } = await left(folder.path);
  await using app = await embedded({ dir: folder.path, onFatal: () => undefined });
  app.worker({ handlers: [measure] });
  const client = app.client();
  await client.overview();
  assert.is(await client.open(Measure, large).result(), `${3 * MIB} abc abc`);
});

stored('a file is submitted in pieces, a stream through a temporary file', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  await using client = await connectClient({ address: leader.address });
  await using _worker = await startWorker({
    address: leader.address,
    name: 'w',
    handlers: [measure],
    cpuCap: 1,
  });
  const file = join(folder.path, '..', `${basename(folder.path)}.json`);
  await writeFile(file, JSON.stringify(textOf(20 * MIB, 'abc')));
  try {
    const before = process.memoryUsage().arrayBuffers;
    const first = await client.submitFile(Measure, file, { key: 'k' });
    assert.is((await client.submitFile(Measure, file, { key: 'k' })).id, first.id);
    assert.is(await first.result(), `${20 * MIB} abc abc`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 200 * MIB);
    const streamed = await client.submitStream(Measure, createReadStream(file));
    assert.is(await streamed.result(), `${20 * MIB} abc abc`);
  } finally {
    await rm(file);
  }
});

stored('many large payloads at once reach their handlers unchanged', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  await using client = await connectClient({ address: leader.address });
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  await using _worker = await startWorker({
    address: leader.address,
    name: 'w',
    slots: 4,
    handlers: [handle(Measure, digest)],
    cpuCap: 1,
  });
  // No two stretches alike: memory that is used again too early would show.
  const texts = Array.from({ length: 6 }, () => randomBytes(2 * MIB + 1_000).toString('hex'));
  const files = texts.map((_, i) => join(folder.path, '..', `${basename(folder.path)}-${i}.json`));
  await Promise.all(files.map((file, i) => writeFile(file, JSON.stringify(texts[i]))));
  try {
    for (let round = 0; round < 3; round += 1) {
      const results = files.map(async (file) => (await client.submitFile(Measure, file)).result());
      assert.equal(await Promise.all(results), texts.map(digest));
    }
  } finally {
    await Promise.all(files.map((file) => rm(file)));
  }
});

stored('a small file is an inline payload; a missing file rejects at once', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  await using client = await connectClient({ address: leader.address });
  const file = join(folder.path, '..', `${basename(folder.path)}.json`);
  const gone = await client.submitFile(Measure, file).catch((error: NodeJS.ErrnoException) => error.code);
  assert.is(gone, 'ENOENT');
  await writeFile(file, '"abc"');
  try {
    assert.ok((await client.submitFile(Measure, file)).id !== '');
    assert.equal(await blobsOf(folder.path), []);
  } finally {
    await rm(file);
  }
});

stored('a file that is deleted before it is sent is ERR_PAYLOAD_LOST, and the client goes on', async () => {
  await using folder = await tempFolder();
  const first = await open(folder.path);
  const { address } = first;
  await using client = await connectClient({ address });
  const file = join(folder.path, '..', `${basename(folder.path)}.json`);
  await writeFile(file, JSON.stringify(textOf(2 * MIB, 'abc')));
  await first.close();
  const submitted = client.submitFile(Measure, file).catch((error: unknown) => error);
  // Behind the client's own look at it.
  for (let i = 0; i < 3; i += 1) await stat(file);
  await rm(file);
  await using _leader = await open(folder.path, { payloadBytesMax: 32 * MIB }, address);
  const error = await submitted;
  assert.ok(error instanceof JobRefusedError && error.code === 'ERR_PAYLOAD_LOST', String(error));
  assert.ok((await client.submit(Measure, 'small')).id !== '');
});

stored('`verifyWal` checks stored payloads too', async () => {
  await using folder = await tempFolder();
  await left(folder.path);
  assert.is((await verifyWal(folder.path)).ok, true);
  const [name] = await blobsOf(folder.path);
  await damages['altered']?.(join(folder.path, 'blobs', name ?? ''));
  const report = await verifyWal(folder.path);
  assert.equal([report.ok, report.damage[0]?.file], [false, `blobs/${name}`]);
});

stored.run();
