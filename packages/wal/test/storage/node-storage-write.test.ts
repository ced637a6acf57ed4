import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeStorage, type StorageFile } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const durable = suite('node storage write');
const PAGE = 4_096;

async function withFile(use: (file: string, opened: Opened) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'troupe-wal-'));
  try {
    const path = join(directory, 'pages');
    await writeFile(path, Buffer.alloc(8 * PAGE));
    const storage = nodeStorage(directory);
    const file = await new Promise<StorageFile>((resolve, reject) =>
      storage.open('pages', 'durable', (error, one) => (error === null ? resolve(one) : reject(error))),
    );
    await use(path, { storage, file });
  } finally {
    await rm(directory, { recursive: true });
  }
}

interface Opened {
  readonly storage: ReturnType<typeof nodeStorage>;
  readonly file: StorageFile;
}

/** The arguments of `done`, and whether it was called before the call returned. */
function write(
  { storage, file }: Opened,
  page: number,
): Promise<{ error: Error | null; written: number; early: boolean }> {
  return new Promise((resolve) => {
    let returned = false;
    const done = (error: Error | null, written: number): void =>
      resolve({ error, written, early: !returned });
    storage.writeDurable(file, Buffer.alloc(PAGE, page + 1), page * PAGE, done, { mayBlock: true });
    returned = true;
  });
}

durable(
  'a write that may block is complete, and its callback is called after the call returned',
  async () => {
    await withFile(async (path, opened) => {
      for (let page = 0; page < 8; page += 1)
        assert.equal(await write(opened, page), { error: null, written: PAGE, early: false });
      const bytes = await readFile(path);
      for (let page = 0; page < 8; page += 1) assert.is(bytes[page * PAGE + 17], page + 1);
      await new Promise<void>((resolve) => opened.storage.close(opened.file, () => resolve()));
    });
  },
);

durable('an error of the disk is passed to the callback, not thrown', async () => {
  await withFile(async (_path, opened) => {
    for (let page = 0; page < 4; page += 1) await write(opened, page);
    await new Promise<void>((resolve) => opened.storage.close(opened.file, () => resolve()));
    const { error, early } = await write(opened, 5);
    assert.ok(error instanceof Error);
    assert.is(early, false);
  });
});

durable.run();
