// Words and names that may not stand in the code.
import { lineAt } from './source-text.mjs';

/** @typedef {import('./tree.mjs').Finding} Finding */

const program = /\.(ts|mts|mjs|js)$/;
const source = /^(packages\/[^/]+|bench)\/src\/.*\.ts$/;
const tests = /^(packages\/[^/]+|bench)\/test\/.*\.ts$/;

// Written with a gap, so that this file does not find itself.
const leftOvers = ['TO DO', 'FIX ME', 'XX X', 'HA CK', 'debug ger'].map((word) => word.replace(' ', ''));

/**
 * `in` says which text is searched: the code without comments and strings, or the raw text.
 * @type {{ files: RegExp, in: 'code' | 'raw', pattern: RegExp, text: string }[]}
 */
const rules = [
  {
    files: program,
    in: 'raw',
    pattern: new RegExp(`\\b(${leftOvers.join('|')})\\b`, 'g'),
    text: 'finish it, or open an issue',
  },
  {
    files: program,
    in: 'raw',
    pattern: /@ts-(ignore|nocheck)/g,
    text: 'use @ts-expect-error with a reason, or fix it',
  },
  {
    files: source,
    in: 'code',
    pattern: /(?:[:<|&,(=[]|\bas|\bextends)\s*any\b(?!\s*[(:.=?])/g,
    text: 'any is banned; unknown at the edges',
  },
  {
    files: source,
    in: 'raw',
    pattern: /\bcatch\s*(\([^)]*\))?\s*\{\s*\}/g,
    text: 'a swallowed error; handle it or say why not',
  },
  { files: program, in: 'code', pattern: /\bexport\s*\*/g, text: 'list the exported names one by one' },
  { files: program, in: 'code', pattern: /\bexport\s+default\b/g, text: 'use a named export' },
];

const drawers = /(^|-)(utils?|common|helpers?|types|base|manager|misc|impl|v\d+)$/;

/** @param {import('./tree.mjs').Tree} tree @returns {Finding[]} */
export function checkWords(tree) {
  return tree
    .paths(program)
    .filter(isOurs)
    .flatMap((file) => [...wordsIn(tree, file), ...deepImports(tree, file)]);
}

/** @param {import('./tree.mjs').Tree} tree @param {string} file */
function wordsIn(tree, file) {
  return rules
    .filter((rule) => rule.files.test(file))
    .flatMap((rule) => {
      const text = rule.in === 'raw' ? tree.text(file) : tree.source(file).code;
      return [...text.matchAll(rule.pattern)].map((match) => ({
        file,
        line: lineAt(text, match.index),
        text: `${match[0].trim()}: ${rule.text}`,
      }));
    });
}

/** @param {import('./tree.mjs').Tree} tree @param {string} file */
function deepImports(tree, file) {
  return tree
    .imports(file)
    .filter(({ specifier }) => specifier.startsWith('mnemonist/'))
    .map(({ specifier, line }) => ({
      file,
      line,
      text: `${specifier}: compiles, but fails in Node; import { X } from 'mnemonist'`,
    }));
}

/** Fixtures show what is wrong on purpose. @param {string} file */
function isOurs(file) {
  return !file.includes('/fixtures/');
}

/** @param {import('./tree.mjs').Tree} tree @returns {Finding[]} */
export function checkNames(tree) {
  const files = tree
    .paths(program)
    .filter((file) => isOurs(file) && (source.test(file) || tests.test(file) || file.startsWith('scripts/')));
  return files.flatMap((file) => {
    const name = (file.split('/').at(-1) ?? '').split('.')[0] ?? '';
    if (drawers.test(name)) return [{ file, text: 'name the file after the one noun inside' }];
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return [{ file, text: 'file names are kebab-case' }];
    if (name === 'index' && source.test(file) && !isEntry(tree, file)) {
      return [{ file, text: 'an index.ts is an entry of "exports"; inner ones hide where things are' }];
    }
    return [];
  });
}

/** @param {import('./tree.mjs').Tree} tree @param {string} file */
function isEntry(tree, file) {
  const [folder = '', rest = ''] = file.split('/src/');
  return tree.text(`${folder}/package.json`).includes(`./dist/${rest.replace(/\.ts$/, '.js')}`);
}
