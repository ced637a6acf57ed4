// timeout: 240s
// With a file truncated, removed or replaced, or a sector overwritten, a log opens with all records or is
// refused. With --all-bytes files are cut at every byte of their padding, too.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  damageOffsets,
  type Ending,
  isInLastBatch,
  makeSampleLog,
  openDamaged,
  withFile,
} from './sample-log.js';

const files = suite('truncated and replaced files');
const ENDINGS: readonly Ending[] = ['clean', 'sealed', 'unsealed'];

for (const ending of ENDINGS) {
  files(
    `with a file truncated to any length the log opens with all records or is refused: ${ending} end`,
    () => {
      const sample = makeSampleLog(ending);
      for (const [name, content] of sample.files) {
        for (const length of damageOffsets(content)) {
          const { verdict, why } = openDamaged(sample, withFile(sample, name, content.subarray(0, length)));
          const where = `${name} cut to ${length} of ${content.length}: ${verdict} ${why}`;
          assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
          if (!name.startsWith('blobs/') && !name.startsWith('snap-') && length < content.length - 8_192) {
            assert.is(verdict, 'refused', where);
          }
        }
      }
    },
  );

  files(
    `with a file removed, doubled, emptied or replaced the log opens with all records or is refused: ${ending} end`,
    () => {
      const sample = makeSampleLog(ending);
      for (const [name, content] of sample.files) {
        const others = [...sample.files].filter(([other]) => other !== name).map(([, content]) => content);
        for (const replacement of [
          undefined,
          Buffer.concat([content, content]),
          Buffer.alloc(0),
          ...others,
        ]) {
          const { verdict, why } = openDamaged(sample, withFile(sample, name, replacement));
          assert.ok(
            verdict === 'recovered-all' || verdict === 'refused',
            `${name} replaced: ${verdict} ${why}`,
          );
        }
      }
    },
  );

  files(`with any sector overwritten the log opens with all records or is refused: ${ending} end`, () => {
    const sample = makeSampleLog(ending);
    for (const [name, content] of sample.files) {
      for (const sector of [512, 4_096]) {
        for (let from = 0; from < content.length; from += sector) {
          const to = Math.min(content.length, from + sector);
          const changes: Buffer[] = [Buffer.alloc(to - from), Buffer.alloc(to - from, 0xa5)];
          for (let other = 0; other < content.length; other += sector) {
            changes.push(content.subarray(other, Math.min(content.length, other + to - from)));
          }
          for (const change of changes) {
            const damaged = Buffer.from(content);
            change.copy(damaged, from);
            const { verdict, why } = openDamaged(sample, withFile(sample, name, damaged));
            const where = `${name} bytes ${from} to ${to}: ${verdict} ${why}`;
            // A last batch overwritten with zeros looks as if it had never been started.
            if (isInLastBatch(sample, name, from)) assert.is.not(verdict, 'something-else', where);
            else assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
          }
        }
      }
    }
  });
}

files.run();
