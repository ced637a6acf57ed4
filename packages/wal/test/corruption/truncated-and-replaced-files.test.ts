// timeout: 240s
// B11, B21, B22, B27: wherever a file is cut, whatever becomes of a sector, whatever file is gone or takes
// another's place, opening gives everything or refuses.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, isInLastBatch, makeSampleLog, openDamaged, withFile } from './sample-log.js';

const lengths = suite('damage at every length');
const ENDINGS: readonly Ending[] = ['clean', 'sealed', 'unsealed'];

for (const ending of ENDINGS) {
  lengths(`a file cut at any length is refused, or nothing was lost: ${ending} end`, () => {
    const sample = makeSampleLog(ending);
    for (const [name, content] of sample.files) {
      for (let length = 0; length < content.length; length += 1) {
        const { verdict, why } = openDamaged(sample, withFile(sample, name, content.subarray(0, length)));
        const where = `${name} cut to ${length} of ${content.length}: ${verdict} ${why}`;
        assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
        if (!name.startsWith('blobs/') && !name.startsWith('snap-') && length < content.length - 8_192) {
          assert.is(verdict, 'refused', where);
        }
      }
    }
  });

  lengths(
    `a file that is gone, doubled, emptied or swapped is refused, or nothing was lost: ${ending} end`,
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

  lengths(
    `a sector zeroed, filled with garbage or copied over another is harmless or refused: ${ending} end`,
    () => {
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
              // Zeros over the whole batch are what a batch that was never started looks like: nothing is
              // left to report.
              if (isInLastBatch(sample, name, from)) assert.is.not(verdict, 'something-else', where);
              else assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
            }
          }
        }
      }
    },
  );
}

lengths.run();
