// CURRENT with values of another kind is refused, so that no name of a file is made of them.
import { verifyWal } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeFramedJson } from '#src/format/framed-json.js';
import { decodeManifest, type Manifest } from '#src/format/manifest.js';
import { LogHarness } from '../log-harness.js';

const manifests = suite('manifest check');

const POSITION = { batch: 1, lsn: 1, crc: 1 };
const VALID = {
  storeId: 'ab'.repeat(16),
  epoch: 1,
  start: POSITION,
  segments: [{ seq: 1, bytes: 8_192, salt: 3, sealed: { ...POSITION, end: 8_192 } }],
  snapshots: [{ lsn: 1, bytes: 10, sha256: 'cd'.repeat(32) }],
  losses: [{ from: 1, to: 1, at: 0 }],
  clean: { batch: 1, lsn: 1 },
};
const ODD: readonly (readonly [string, unknown])[] = [
  ['segments', [{ ...VALID.segments[0], seq: '/../../etc/passwd' }]],
  ['segments', [{ ...VALID.segments[0], seq: 1.5 }]],
  ['segments', [{ ...VALID.segments[0], seq: -1 }]],
  ['segments', [{ ...VALID.segments[0], bytes: '8192' }]],
  ['segments', [{ ...VALID.segments[0], sealed: { ...POSITION, end: null } }]],
  ['segments', {}],
  ['snapshots', [{ ...VALID.snapshots[0], lsn: '1/../../secret' }]],
  ['snapshots', [{ ...VALID.snapshots[0], sha256: '../x' }]],
  ['storeId', '../'],
  ['epoch', '1'],
  ['epoch', 2 ** 60],
  ['start', undefined],
  ['losses', undefined],
  ['clean', { batch: 1 }],
];

manifests('a manifest with every field is valid, also with fields of a later minor version', () => {
  assert.equal(decodeManifest(encodeFramedJson('CURRENT', VALID)), VALID as Manifest);
  decodeManifest(encodeFramedJson('CURRENT', { ...VALID, later: true }));
});

for (const [field, value] of ODD) {
  manifests(`a manifest with ${field} ${JSON.stringify(value)} is refused`, () => {
    const bytes = encodeFramedJson('CURRENT', { ...VALID, [field]: value });
    assert.throws(() => decodeManifest(bytes), new RegExp(`${field} is not valid`));
  });
}

manifests('verifying a log whose CURRENT names a file elsewhere opens no such file', async () => {
  const harness = new LogHarness();
  harness.open();
  harness.storage.crash();
  const files = harness.storage.disk.files();
  const manifest = decodeManifest(files.get('CURRENT') ?? Buffer.alloc(0));
  const [entry] = manifest.segments;
  const odd = { ...manifest, segments: [{ ...entry, seq: '/../outside' }] };
  files.set('CURRENT', encodeFramedJson('CURRENT', odd));
  const damaged = new LogHarness({
    disk: SimulatedDisk.withFiles(files),
    schedule: (complete) => queueMicrotask(complete),
  });
  const report = await verifyWal(damaged.storage);
  assert.not.ok(report.ok);
  assert.not.ok(damaged.storage.calls.some(({ name }) => name.includes('..')));
});

manifests.run();
