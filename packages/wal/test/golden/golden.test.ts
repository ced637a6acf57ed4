// timeout: 60s
// A directory of every format version opens with its records and accepts new ones.
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWal, verifyWal, type WalError } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeFramedJson } from '#src/format/framed-json.js';
import { digestFold } from '../digest-fold.js';
import { SMALL } from '../log-harness.js';
import { tempDirectory } from '../temp-directory.js';

const golden = suite('golden directories');
const HERE = fileURLToPath(new URL('../../test/golden/', import.meta.url));

interface Expected {
  readonly count: number;
  readonly digest: string;
  readonly snapshotLsn: number;
  readonly lastLsn: number;
  readonly blob: { readonly sha256: string; readonly bytes: number };
}

const versions = (await readdir(HERE)).filter((name) => /^v\d+$/.test(name));

golden('there is a directory for every format version', () => assert.equal(versions, ['v1']));

for (const version of versions) {
  golden(`${version} opens with its records, snapshot and blob, and accepts an append`, async () => {
    const expected = JSON.parse(await readFile(join(HERE, version, 'expected.json'), 'utf8')) as Expected;
    await using directory = await tempDirectory();
    await cp(join(HERE, version), directory.path, { recursive: true });
    const report = await verifyWal(directory.path);
    assert.ok(report.ok, JSON.stringify(report.damage));
    assert.is(report.lastLsn, expected.lastLsn);

    const options = { dir: directory.path, ...SMALL };
    const wal = await openWal(options);
    assert.is(wal.log.snapshot?.lsn, expected.snapshotLsn);
    const state = await wal.restore(digestFold);
    assert.is(state.count, expected.count);
    assert.is(state.digest, expected.digest);
    assert.is((await wal.readBlob(expected.blob)).length, expected.blob.bytes);
    assert.is(await wal.append(Buffer.from('one more')), expected.lastLsn + 1);
    await wal.close();

    await using again = await openWal(options);
    assert.is((await again.restore(digestFold)).count, expected.count + 1);
  });
}

golden('a directory of a newer major version is refused and not changed', async () => {
  await using directory = await tempDirectory();
  await cp(join(HERE, 'v1'), directory.path, { recursive: true });
  const store = { major: 2, minor: 0, storeId: 'ab'.repeat(16), createdAt: 0 };
  await writeFile(join(directory.path, 'STORE'), encodeFramedJson('STORE', store));
  const before = (await readdir(directory.path)).sort();
  const refused = await openWal({ dir: directory.path, ...SMALL }).then(
    () => undefined,
    (error: WalError) => error,
  );
  assert.is(refused?.code, 'ERR_WAL_VERSION');
  assert.is(refused?.exitCode, 65);
  assert.equal((await readdir(directory.path)).sort(), before);
});

golden.run();
