// timeout: 240s
// With any bit of any file flipped, a log opens with all records or is refused. The exception: after an
// unclean end the last batch, without a seal after it, may be cut.
//
// Arguments: --all-bits flips each of the eight bits of a byte instead of one; --all-bytes takes all bytes of
// the padding instead of a part of them.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  damageOffsets,
  type Ending,
  isBlobDamageReported,
  isInLastBatch,
  makeSampleLog,
  openDamaged,
  withFile,
} from './sample-log.js';

const flips = suite('flipped bits');
const MASKS = process.argv.includes('--all-bits') ? [1, 2, 4, 8, 16, 32, 64, 128] : undefined;
const ENDINGS: readonly Ending[] = ['clean', 'sealed', 'unsealed'];

for (const ending of ENDINGS) {
  flips(`with a flipped bit in any byte the log opens with all records or is refused: ${ending} end`, () => {
    const sample = makeSampleLog(ending);
    const seen = {
      'recovered-all': 0,
      refused: 0,
      'last-batch-cut': 0,
      'last-batch-cut-silently': 0,
      'something-else': 0,
    };
    let total = 0;
    for (const [name, content] of sample.files) {
      for (const offset of damageOffsets(content)) {
        for (const mask of MASKS ?? [1 << ((offset * 7 + 3) % 8)]) {
          const damaged = Buffer.from(content);
          damaged[offset] = (damaged[offset] ?? 0) ^ mask;
          const { verdict, why } = openDamaged(sample, withFile(sample, name, damaged));
          const where = `${name} byte ${offset} bit mask ${mask}: ${verdict} ${why}`;
          if (isInLastBatch(sample, name, offset)) assert.not.match(verdict, /silently|else/, where);
          else assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
          seen[verdict] += 1;
          total += 1;
        }
      }
    }
    assert.ok(total > 3_000, `only ${total} bytes`);
    assert.ok(seen.refused > 1_000, `only ${seen.refused} refused`);
    if (ending === 'unsealed') assert.ok(seen['last-batch-cut'] > 50, 'no last batch was cut');
    else assert.is(seen['last-batch-cut'], 0);
  });
}

flips('a flipped bit in a blob fails the reading of that blob only', () => {
  const sample = makeSampleLog('clean');
  for (const [name, content] of sample.files) {
    if (!name.startsWith('blobs/')) continue;
    for (let offset = 0; offset < content.length; offset += 1) {
      const damaged = Buffer.from(content);
      damaged[offset] = (damaged[offset] ?? 0) ^ 1;
      const files = withFile(sample, name, damaged);
      assert.is(openDamaged(sample, files).verdict, 'recovered-all');
      assert.ok(isBlobDamageReported(files, name, content.length), `${name} byte ${offset}`);
    }
  }
});

flips.run();
