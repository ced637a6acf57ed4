import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkPlaces } from '../../tidy/places.mjs';
import { Tree } from '../../tidy/tree.mjs';

const places = suite('places');

/** @param {string} file @param {string} text */
function count(file, text) {
  return checkPlaces(Tree.of({ [file]: text })).length;
}

places('a lock file or a config that names a registry is found', () => {
  assert.is(count('pnpm-lock.yaml', 'resolution: {tarball: https://mirror.example/x.tgz}'), 1);
  assert.is(count('.npmrc', 'registry=https://mirror.example/'), 1);
  assert.is(count('docs/a.md', `see https://${'registry'}.npmjs.org/uvu`), 1);
  assert.is(count('pnpm-lock.yaml', 'resolution: {integrity: sha512-abc}'), 0);
});

places('a path of one machine is found, a relative one and a URL are not', () => {
  assert.is(count('packages/wal/src/a.ts', `const dir = '/${'home'}/ann/state';`), 1);
  assert.is(count('docs/a.md', `open \`/${'tmp'}/x\``), 1);
  assert.is(count('docs/a.md', 'https://example.com/home/page and ./tmp/x and src/work/item.ts'), 0);
});

places.run();
