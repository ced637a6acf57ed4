// timeout: 60s
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineJob, handle, LedgerVersionError } from '@troupe/jobs';
import { type ContentFormat, openWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LEDGER_FORMAT } from '#src/ledger/ledger-format.js';
import { embedded } from '../checked-processes.js';
import { aNumber } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const versions = suite('ledger version');

const double = defineJob('double', { input: aNumber, output: aNumber });

async function runOne(dir: string, input: number): Promise<number> {
  await using app = await embedded({ dir });
  app.worker({ handlers: [handle(double, (n) => 2 * n)] });
  return await app.client().run(double, input);
}

/** Makes the folder one of another version, as its leader would. */
async function openAs(dir: string, content: ContentFormat | undefined): Promise<void> {
  const wal = await openWal({ dir, content });
  await wal.append(Buffer.from('{}'));
  await wal.close();
}

async function contentOf(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const digests = files.sort().map(async (file) => {
    return `${file} ${createHash('sha256')
      .update(await readFile(file))
      .digest('hex')}`;
  });
  return Promise.all(digests);
}

versions(
  'a folder of a newer format is refused with the version it needs, and is byte for byte as it was',
  async () => {
    await using folder = await tempFolder();
    assert.is(await runOne(folder.path, 4), 8);
    await openAs(folder.path, { ...LEDGER_FORMAT, minor: LEDGER_FORMAT.minor + 1, since: '9.8.7' });
    const before = await contentOf(folder.path);
    const refused = await runOne(folder.path, 5).catch((error: unknown) => error);
    assert.instance(refused, LedgerVersionError);
    assert.match((refused as Error).message, '9.8.7');
    assert.equal(await contentOf(folder.path), before);
  },
);

versions('a log that is not of a leader is refused, and is byte for byte as it was', async () => {
  for (const content of [undefined, { ...LEDGER_FORMAT, name: 'diary' }]) {
    await using folder = await tempFolder();
    await openAs(folder.path, content);
    const before = await contentOf(folder.path);
    const refused = await runOne(folder.path, 5).catch((error: unknown) => error);
    assert.instance(refused, LedgerVersionError);
    assert.equal(await contentOf(folder.path), before);
  }
});

versions.run();
