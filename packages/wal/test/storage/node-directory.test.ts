import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeStorage, WalDirectoryError } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempDirectory } from '../temp-directory.js';

const directories = suite('node directory');

async function refusal(work: Promise<unknown>): Promise<WalDirectoryError> {
  const error = await work.then(
    () => undefined,
    (one: unknown) => one,
  );
  assert.instance(error, WalDirectoryError);
  return error as WalDirectoryError;
}

directories('a directory is created with its parents, and may exist already', async () => {
  await using temp = await tempDirectory();
  const storage = nodeStorage(join(temp.path, 'a', 'b'));
  await promisify(storage.mkdir)('c');
  await promisify(storage.mkdir)('c');
  assert.ok((await stat(join(temp.path, 'a', 'b', 'c'))).isDirectory());
});

directories('a directory that cannot be created or written to is refused at once (exit 73)', async () => {
  await using temp = await tempDirectory();
  const file = join(temp.path, 'file');
  await writeFile(file, '');
  const places = [file, join(file, 'below'), join(temp.path, 'x'.repeat(300))];
  // A parent that exists and refuses entries must not lead to endless retries.
  if (process.platform === 'linux') places.push('/proc/x', '/proc/x/y', '/proc', '/sys', '/sys/x');
  for (const place of places) {
    const error = await refusal(promisify(nodeStorage(place).lock)());
    assert.equal([error.code, error.exitCode, error.directory], ['ERR_WAL_DIRECTORY', 73, place]);
    assert.match(
      error.message,
      /^directory .*: cannot be created or written to \(E[A-Z]+\); name another, or /,
    );
  }
  await refusal(promisify(nodeStorage(temp.path).mkdir)('file'));
});

directories.run();
