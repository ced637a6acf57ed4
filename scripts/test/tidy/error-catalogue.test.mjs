import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkErrorCatalogue } from '../../tidy/error-catalogue.mjs';
import { Tree } from '../../tidy/tree.mjs';

const catalogue = suite('error catalogue');
const source = { 'packages/wal/src/errors.ts': `export class Full { readonly code = 'ERR_FULL'; }` };

/** @param {Record<string, string>} files */
function findings(files) {
  return checkErrorCatalogue(Tree.of(files)).map(({ file, text }) => `${file}: ${text}`);
}

catalogue('a code with its entry is in order', () => {
  assert.equal(findings({ ...source, 'docs/errors.md': '# Errors\n\n### ERR_FULL\n\nFull.\n' }), []);
});

catalogue('a code without entry is found', () => {
  const expected = ['packages/wal/src/errors.ts: ERR_FULL has no entry "### ERR_FULL" in docs/errors.md'];
  assert.equal(findings(source), expected);
  assert.equal(findings({ ...source, 'docs/errors.md': 'ERR_FULL, in prose only' }), expected);
});

catalogue('an entry without code is found', () => {
  const page = '### ERR_FULL\n\n### ERR_GONE\n';
  assert.equal(findings({ ...source, 'docs/errors.md': page }), [
    'docs/errors.md: ERR_GONE is thrown nowhere',
  ]);
});

catalogue('a second entry is found', () => {
  const page = '### ERR_FULL\n\n### ERR_FULL\n';
  assert.equal(findings({ ...source, 'docs/errors.md': page }), ['docs/errors.md: ERR_FULL has two entries']);
});

catalogue('a code in a comment, or one of Node, needs no entry', () => {
  const text = `// 'ERR_OLD'\nif (error.code === 'ERR_BUFFER_TOO_LARGE') retry();`;
  assert.equal(findings({ 'packages/wal/src/log.ts': text }), []);
});

catalogue.run();
