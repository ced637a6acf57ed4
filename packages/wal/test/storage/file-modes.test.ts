// The files hold every payload: only their owner may read them, whatever the umask.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { copyWal, inlineSnapshotBuilder, nodeStorage, openWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { networkFileSystemName } from '#src/storage/node-network-file-system.js';
import { digestFold } from '../digest-fold.js';
import { SMALL } from '../log-harness.js';
import { tempDirectory } from '../temp-directory.js';

const modes = suite('file modes');

async function modesIn(directory: string): Promise<Map<string, string>> {
  const found = new Map([['.', ((await stat(directory)).mode & 0o777).toString(8)]]);
  for (const name of await readdir(directory, { recursive: true }))
    found.set(name, ((await stat(join(directory, name))).mode & 0o777).toString(8));
  return found;
}

modes('files of a log and of its copy have mode 600, folders 700', async () => {
  await using directory = await tempDirectory();
  const dir = join(directory.path, 'parent', 'log');
  const copy = join(directory.path, 'copy');
  const umask = process.umask(0);
  try {
    const snapshotBuilder = inlineSnapshotBuilder(nodeStorage(dir), digestFold);
    const wal = await openWal({ dir, ...SMALL, snapshotBuilder });
    await wal.putBlob(Buffer.alloc(5_000));
    await wal.append(Buffer.from('x'));
    await wal.snapshot();
    await copyWal(dir, copy);
    for (const folder of [dir, copy]) {
      const found = await modesIn(folder);
      assert.ok(found.size > 6, [...found.keys()].join());
      for (const [name, mode] of found)
        assert.is(mode, ['.', 'blobs', 'quarantine'].includes(name) ? '700' : '600', `${folder} ${name}`);
    }
    assert.is((await modesIn(join(directory.path, 'parent'))).get('.'), '700');
    await wal.close();
  } finally {
    process.umask(umask);
  }
});

modes('network file systems are known by their type', () => {
  const table: readonly (readonly [number, string | undefined])[] = [
    [0x6969, 'nfs'],
    [0xff534d42, 'cifs'],
    [0xff534d42 | 0, 'cifs'],
    [0xef53, undefined],
    [0x58465342, undefined],
    [0x01021994, undefined],
    [0x794c7630, undefined],
  ];
  for (const [type, name] of table) assert.is(networkFileSystemName(type), name, type.toString(16));
});

modes.run();
