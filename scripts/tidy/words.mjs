// Words and names that may not stand in the code.
import { lineAt } from './source-text.mjs';

/** @typedef {import('./tree.mjs').Finding} Finding */

const program = /\.(ts|mts|mjs|js)$/;
const source = /^(packages\/[^/]+|bench)\/src\/.*\.ts$/;
const tests = /^(packages\/[^/]+|bench)\/test\/.*\.ts$/;

/**
 * `in` says which text is searched: code (no comments, no strings), withStrings, or the raw text. Patterns are put
 * together from pieces where they would find themselves.
 * @type {{ files: RegExp, in: 'code' | 'withStrings' | 'raw', pattern: RegExp, text: string }[]}
 */
const rules = [
  {
    files: program,
    in: 'raw',
    pattern: new RegExp(
      `\\b(${['TO', 'FIX', 'XX', 'HA'].map((half, at) => half + ['DO', 'ME', 'X', 'CK'][at]).join('|')})\\b`,
      'g',
    ),
    text: 'open an issue instead',
  },
  { files: program, in: 'code', pattern: /\bdebugger\b/g, text: 'left over from debugging' },
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
  {
    files: program,
    in: 'withStrings',
    pattern: /['"]mnemonist\/[^'"]*['"]/g,
    text: "compiles, but fails in Node: import { X } from 'mnemonist'",
  },
];

const drawers = /(^|-)(utils?|common|helpers?|types|base|manager|misc|impl|v\d+)$/;

/** @param {import('./tree.mjs').Tree} tree @returns {Finding[]} */
export function checkWords(tree) {
  return tree
    .paths(program)
    .filter(isOurs)
    .flatMap((file) =>
      rules
        .filter((rule) => rule.files.test(file))
        .flatMap((rule) => {
          const text = rule.in === 'raw' ? tree.text(file) : tree.source(file)[rule.in];
          return [...text.matchAll(rule.pattern)].map((match) => ({
            file,
            line: lineAt(text, match.index),
            text: `${match[0].trim()}: ${rule.text}`,
          }));
        }),
    );
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
