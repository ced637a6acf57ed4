import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Tree } from '../../tidy/tree.mjs';
import { checkNames, checkWords } from '../../tidy/words.mjs';

const words = suite('words');

/** @param {string} text @param {string} [file] */
function found(text, file = 'packages/core/src/message/envelope.ts') {
  return checkWords(Tree.of({ [file]: text })).length;
}

const banned = [
  `// ${'TO'}DO later`,
  `${'debug'}ger;`,
  'let x: any;',
  'const x = y as any;',
  'function f(a: any[]) {}',
  'type F = Map<string, any>;',
  'type G = (...args: any) => void;',
  `export * from './a.js';`,
  'export default class {}',
  `import { Deque } from 'mnemonist/fixed-deque.js';`,
  'try { f(); } catch (error) { }',
  `// ${'@ts'}-ignore`,
];

for (const text of banned) words(`finds ${text}`, () => assert.is(found(text), 1));

const fine = [
  '// any number of senders',
  'await Promise.any(all);',
  `const text = 'export default any';`,
  `import { Heap } from 'mnemonist';`,
  'const company: Company = as(many);',
  'try { f(); } catch { /* The other side is gone: nothing to close. */ }',
];

for (const text of fine) words(`lets ${text} pass`, () => assert.is(found(text), 0));

words('tests may say any, fixtures may say everything', () => {
  assert.is(found('const x = y as any;', 'packages/core/test/a.test.ts'), 0);
  assert.is(found(`${'debug'}ger;`, 'packages/core/test/fixtures/a.ts'), 0);
});

/** @param {string} file @param {string} [manifest] */
function names(file, manifest = '{}') {
  return checkNames(Tree.of({ [file]: '', 'packages/core/package.json': manifest })).length;
}

words('a file is named after a noun, in kebab-case', () => {
  for (const name of [
    'utils',
    'mailbox-utils',
    'common',
    'helpers',
    'types',
    'base',
    'slot-manager',
    'ring-impl',
    'ring-v2',
    'readyQueue',
  ]) {
    assert.is(names(`packages/core/src/${name}.ts`), 1, name);
  }
  for (const name of ['ring', 'ready-queue', 'database', 'mailbox.test', 'v8-heap']) {
    assert.is(names(`packages/core/src/${name}.ts`), 0, name);
  }
});

words('an index.ts is an entry of the package or nothing', () => {
  const manifest = '{ "exports": { ".": "./dist/index.js" } }';
  assert.is(names('packages/core/src/index.ts', manifest), 0);
  assert.is(names('packages/core/src/mailbox/index.ts', manifest), 1);
});

words.run();
