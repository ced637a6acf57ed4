import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BodySource, bodyFromFile } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const file = suite('body from a file');
const MIB = 1024 * 1024;

async function withFile(bytes: Buffer, use: (source: BodySource) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-transport-'));
  try {
    const path = join(folder, 'body');
    await writeFile(path, bytes);
    const source = bodyFromFile(path);
    await use(source);
    source.close();
  } finally {
    await rm(folder, { recursive: true });
  }
}

function next(source: BodySource): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) =>
    source.read(256 * 1024, (error, chunk) => (error === null ? resolve(chunk) : reject(error))),
  );
}

file('every byte of the file is read once, with chunks released in between', async () => {
  const bytes = randomBytes(3 * MIB + 12_345);
  await withFile(bytes, async (source) => {
    assert.is(source.length, bytes.length);
    const copies: Buffer[] = [];
    const out: Uint8Array[] = [];
    for (let chunk = await next(source); chunk !== null; chunk = await next(source)) {
      copies.push(Buffer.from(chunk));
      out.push(chunk);
      // Two chunks at a time are in flight.
      if (out.length > 2) source.release?.(out.shift() as Uint8Array);
    }
    assert.ok(Buffer.concat(copies).equals(bytes));
  });
});

file('only memory of released chunks is reused', async () => {
  const bytes = randomBytes(6 * MIB);
  await withFile(bytes, async (source) => {
    const first = (await next(source)) as Uint8Array;
    const used = new Set<ArrayBufferLike>();
    for (let chunk = await next(source); chunk !== null; chunk = await next(source)) used.add(chunk.buffer);
    assert.is(used.size, 6, 'without a release no memory is reused');
    assert.ok(bytes.subarray(0, first.length).equals(first));
  });
  await withFile(bytes, async (source) => {
    const used = new Set<ArrayBufferLike>();
    for (let chunk = await next(source); chunk !== null; chunk = await next(source)) {
      used.add(chunk.buffer);
      source.release?.(chunk);
    }
    assert.is(used.size, 1);
  });
});

file.run();
