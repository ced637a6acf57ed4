// timeout: 240s
// B11, B21, B22, B27: whatever byte changes and wherever a file is cut, opening gives everything or refuses. The one residual
// is spelled out: an unclean end, the very last batch, and no seal behind it.
//
// Arguments: --all-bits flips each of the eight bits of every byte instead of one.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ending, type Image, isBlobRefused, judge, makeImage } from './image.js';

const bytes = suite('damage at every byte');
const MASKS = process.argv.includes('--all-bits') ? [1, 2, 4, 8, 16, 32, 64, 128] : undefined;
const ENDINGS: readonly Ending[] = ['clean', 'sealed', 'unsealed'];

function withFile(image: Image, name: string, content: Buffer | undefined): Map<string, Buffer> {
  const files = new Map(image.files);
  if (content === undefined) files.delete(name);
  else files.set(name, content);
  return files;
}

function isInLastBatch(image: Image, name: string, offset: number): boolean {
  return (
    image.ending === 'unsealed' &&
    name === image.lastBatch.file &&
    offset >= image.lastBatch.from &&
    offset < image.lastBatch.to
  );
}

for (const ending of ENDINGS) {
  bytes(`a flipped bit in any byte is harmless or refused: ${ending} end`, () => {
    const image = makeImage(ending);
    const seen = {
      'recovered-all': 0,
      refused: 0,
      'last-batch-cut': 0,
      'last-batch-cut-silently': 0,
      'something-else': 0,
    };
    let total = 0;
    for (const [name, content] of image.files) {
      for (let offset = 0; offset < content.length; offset += 1) {
        for (const mask of MASKS ?? [1 << ((offset * 7 + 3) % 8)]) {
          const damaged = Buffer.from(content);
          damaged[offset] = (damaged[offset] ?? 0) ^ mask;
          const { verdict, why } = judge(image, withFile(image, name, damaged));
          const where = `${name} byte ${offset} bit mask ${mask}: ${verdict} ${why}`;
          if (isInLastBatch(image, name, offset)) assert.not.match(verdict, /silently|else/, where);
          else assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
          seen[verdict] += 1;
          total += 1;
        }
      }
    }
    assert.ok(total > 30_000, `only ${total} bytes`);
    assert.ok(seen.refused > 8_000, `only ${seen.refused} refused`);
    if (ending === 'unsealed') assert.ok(seen['last-batch-cut'] > 50, 'the residual was not met');
    else assert.is(seen['last-batch-cut'], 0);
  });

  bytes(`a file cut at any length is refused, or nothing was lost: ${ending} end`, () => {
    const image = makeImage(ending);
    for (const [name, content] of image.files) {
      for (let length = 0; length < content.length; length += 1) {
        const { verdict, why } = judge(image, withFile(image, name, content.subarray(0, length)));
        const where = `${name} cut to ${length} of ${content.length}: ${verdict} ${why}`;
        assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
        if (!name.startsWith('blobs/') && !name.startsWith('snap-') && length < content.length - 8_192) {
          assert.is(verdict, 'refused', where);
        }
      }
    }
  });

  bytes(
    `a file that is gone, doubled, emptied or swapped is refused, or nothing was lost: ${ending} end`,
    () => {
      const image = makeImage(ending);
      for (const [name, content] of image.files) {
        const others = [...image.files].filter(([other]) => other !== name).map(([, bytes]) => bytes);
        for (const replacement of [
          undefined,
          Buffer.concat([content, content]),
          Buffer.alloc(0),
          ...others,
        ]) {
          const { verdict, why } = judge(image, withFile(image, name, replacement));
          assert.ok(
            verdict === 'recovered-all' || verdict === 'refused',
            `${name} replaced: ${verdict} ${why}`,
          );
        }
      }
    },
  );

  bytes(
    `a sector zeroed, filled with garbage or copied over another is harmless or refused: ${ending} end`,
    () => {
      const image = makeImage(ending);
      for (const [name, content] of image.files) {
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
              const { verdict, why } = judge(image, withFile(image, name, damaged));
              const where = `${name} bytes ${from} to ${to}: ${verdict} ${why}`;
              // Zeros over the whole batch are what a batch that was never started looks like: nothing is left to report.
              if (isInLastBatch(image, name, from)) assert.is.not(verdict, 'something-else', where);
              else assert.ok(verdict === 'recovered-all' || verdict === 'refused', where);
            }
          }
        }
      }
    },
  );
}

bytes('a flipped bit in a blob is noticed by whoever reads it, and by nobody else', () => {
  const image = makeImage('clean');
  for (const [name, content] of image.files) {
    if (!name.startsWith('blobs/')) continue;
    for (let offset = 0; offset < content.length; offset += 1) {
      const damaged = Buffer.from(content);
      damaged[offset] = (damaged[offset] ?? 0) ^ 1;
      const files = withFile(image, name, damaged);
      assert.is(judge(image, files).verdict, 'recovered-all');
      assert.ok(isBlobRefused(files, name, content.length), `${name} byte ${offset}`);
    }
  }
});

bytes.run();
