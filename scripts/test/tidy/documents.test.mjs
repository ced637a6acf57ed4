import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  checkAdrIndex,
  checkFragments,
  checkIndex,
  checkLinks,
  checkMaps,
  checkSemantics,
} from '../../tidy/documents.mjs';
import { Tree } from '../../tidy/tree.mjs';

const documents = suite('documents');

/** @param {import('../../tidy/tree.mjs').Finding[]} findings */
function texts(findings) {
  return findings.map((finding) => finding.text);
}

documents('a relative link leads to a file or a folder', () => {
  const tree = Tree.of({
    'docs/a.md':
      '[b](b.md#top) [root](../README.md) [folder](guides/) [web](https://example.com) [here](#here) `[x](y)`',
    'docs/b.md': '[gone](c.md)\n\n```md\n[x](y.md)\n```\n',
    'docs/guides/first.md': '',
    'README.md': '',
  });
  assert.equal(checkLinks(tree), [
    { file: 'docs/b.md', line: 1, text: 'link to c.md, which does not exist' },
  ]);
});

documents('a fragment leads to a heading', () => {
  const tree = Tree.of({
    'docs/a.md':
      '# A\n[b](b.md#the-second-part) [twice](b.md#twice-1) [a](#a) [gone](b.md#gone)\n[here](#there)\n',
    'docs/b.md': '## The `second` part\n## Twice\n## Twice\n```md\n## Gone\n```\n',
  });
  assert.equal(checkFragments(tree), [
    { file: 'docs/a.md', line: 2, text: 'link to b.md#gone, which has no such heading' },
    { file: 'docs/a.md', line: 3, text: 'link to #there, which has no such heading' },
  ]);
});

documents('every page and guide is in the index', () => {
  const tree = Tree.of({
    'docs/README.md': '[first](guides/first.md) [errors](errors.md#x)',
    'docs/errors.md': '',
    'docs/guides/first.md': '',
    'docs/guides/second.md': '',
    'docs/reference/actors.md': '',
  });
  assert.equal(
    checkIndex(tree).map(({ file }) => file),
    ['docs/errors.md', 'docs/guides/second.md'],
  );
});

documents('a map names the folders of a package, and the files beside them', () => {
  const tree = Tree.of({
    'packages/a/README.md': '| `one/` | `two/` in it | \n| `pool/machine/`, `pool/` | |',
    'packages/a/src/index.ts': '',
    'packages/a/src/leader.ts': '',
    'packages/a/src/one/two/deep/first.ts': '',
    'packages/a/src/one/three/first.ts': '',
    'packages/a/src/pool/machine/queue.ts': '',
    'packages/b/src/other.ts': '',
  });
  assert.equal(texts(checkMaps(tree)), [
    'has no word about leader.ts of src',
    'has no word about three/ of src',
  ]);
});

const adr = `# 0003 Signals come first
Status: accepted 2026-01-12
**Context.** a **Decision.** b **Rejected.** c **Consequences.** d **Revisit when.** e
`;
const row = '| [0003](0003-signals.md) | Signals come first | accepted |';

documents('a decision with its row is in order', () => {
  assert.equal(checkAdrIndex(Tree.of({ 'adr/0003-signals.md': adr, 'adr/README.md': `${row}\n` })), []);
});

documents('a decision without row, title, status or section is found', () => {
  const noRow = Tree.of({ 'adr/0003-signals.md': adr, 'adr/README.md': '' });
  assert.equal(texts(checkAdrIndex(noRow)), [`adr/README.md needs the row: ${row}`]);
  const found = (/** @type {string} */ text) =>
    texts(checkAdrIndex(Tree.of({ 'adr/0003-signals.md': text, 'adr/README.md': row })));
  assert.match(found(adr.replace('# 0003', '# 0004'))[0] ?? '', /does not begin with/);
  assert.match(found(adr.replace('Status', 'State'))[0] ?? '', /no line "Status/);
  assert.match(found(adr.replace('Rejected', 'Refused'))[0] ?? '', /has no "Rejected"/);
});

documents('a row without decision and a number taken twice are found', () => {
  const tree = Tree.of({ 'adr/README.md': row });
  assert.equal(texts(checkAdrIndex(tree)), ['lists 0003-signals.md, which does not exist']);
  const rows = `${row}\n${row.replace('signals.md', 'again.md')}\n`;
  const twice = Tree.of({ 'adr/0003-signals.md': adr, 'adr/0003-again.md': adr, 'adr/README.md': rows });
  assert.is(texts(checkAdrIndex(twice)).filter((text) => text.includes('taken twice')).length, 2);
});

const test = {
  'packages/core/test/a.test.ts': `a('a stop isn\\'t late', () => {});`,
  'packages/core/test/b.test-d.ts': '',
};

/** @param {string} page */
function semantics(page) {
  return texts(checkSemantics(Tree.of({ ...test, 'docs/semantics.md': page })));
}

documents('a guarantee names a test that exists', () => {
  const page = `# Semantics

1. A stop is never late, even when the sentence is
   longer. (test: \`packages/core/test/a.test.ts\` › "a stop isn't late")
2. Payloads are checked. (test: \`packages/core/test/b.test-d.ts\`)

## More

3. A last one. (test: \`packages/core/test/a.test.ts\` ›
   "a stop isn't late")
`;
  assert.equal(semantics(page), []);
});

documents('a guarantee without test, with a missing file or a missing title is found', () => {
  assert.equal(semantics('1. Nothing is lost.\n'), ['guarantee 1 names no test']);
  assert.match(
    semantics('1. A. (test: `packages/core/test/c.test.ts` › "x")')[0] ?? '',
    /c\.test\.ts, which does not exist/,
  );
  assert.match(
    semantics('1. A. (test: `packages/core/test/a.test.ts` › "x")')[0] ?? '',
    /"x", which .* does not have/,
  );
  assert.match(semantics('1. A. (test: `packages/core/test/a.test.ts`)')[0] ?? '', /names no test of/);
});

documents('numbers run through the page', () => {
  const item = '. A. (test: `packages/core/test/b.test-d.ts`)\n';
  assert.equal(semantics(`1${item}3${item}`), ['guarantee 3 should have number 2']);
});

documents('a row of a table with a column of sentences names guarantees of the page', () => {
  const item = '1. A. (test: `packages/core/test/b.test-d.ts`)\n';
  const table = (/** @type {string} */ cell) => `| a | sentences |\n|---|---|\n| b | ${cell} |\n`;
  assert.equal(semantics(`${item}\n${table('1')}`), []);
  for (const cell of ['', '2', '0', '1, 7', 'one'])
    assert.match(semantics(`${item}\n${table(cell)}`)[0] ?? '', /names no guarantee/);
});

documents.run();
