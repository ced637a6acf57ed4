// Writes the golden directory of the current format version. Run by hand, once per version:
//   node packages/wal/.test/golden/write-golden.js packages/wal/test/golden/v1
// The directory is never rewritten after a release: every later version must open it as it is.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inlineSnapshotBuilder, type Log } from '@troupe/wal';
import { digestFold } from '../digest-fold.js';
import { LogHarness, textOf } from '../log-harness.js';

const [target = ''] = process.argv.slice(2);
const harness = new LogHarness({ seed: 42 });

function open(codec: 'binary' | 'jsonl'): Log {
  return harness.open({
    codec,
    snapshotBuilder: inlineSnapshotBuilder(harness.storage, digestFold),
    snapshotEveryBytes: 0,
  });
}

function append(log: Log, from: number, count: number): void {
  for (let index = from; index < from + count; index += 1)
    log.append(Buffer.from(textOf(index)), undefined, { type: index % 9 });
  harness.settle();
}

const first = open('binary');
append(first, 0, 10);
harness.wait((done) => first.makeSnapshot(done));
const blob = harness.wait<{ sha256: string; bytes: number }>((done) =>
  first.putBlob(Buffer.alloc(2_500, 'golden '), done),
);
first.append(Buffer.from('with a blob'), undefined, { type: 3, blob });
append(first, 11, 14);
harness.wait((done) => first.makeSnapshot(done));
append(first, 25, 5);
harness.wait<void>((done) => first.close(done));

const second = open('jsonl');
second.append(Buffer.from('{"type":"enqueue","job":{"id":1}}'), undefined, { type: 1 });
append(second, 31, 4);
const state = harness.wait<{ count: number; digest: string }>((done) => second.restore(digestFold, done));

for (const [name, bytes] of harness.storage.disk.files()) {
  if (name.endsWith('.tmp')) continue;
  mkdirSync(dirname(join(target, name)), { recursive: true });
  writeFileSync(join(target, name), bytes);
}
const expected = {
  count: state.count,
  digest: state.digest,
  snapshotLsn: 25,
  blob,
  lastLsn: second.durableLsn,
};
writeFileSync(join(target, 'expected.json'), `${JSON.stringify(expected)}\n`);
