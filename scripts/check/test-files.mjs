// Which test files there are. Found by their sources: what an earlier build left in .test is not a test.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root, workspaceFolders } from '../workspace.mjs';

/** @typedef {import('./unit.mjs').TestFile} TestFile */

/** @returns {TestFile[]} */
function testFiles() {
  const compiled = workspaceFolders().flatMap((folder) =>
    filesBelow(join(root, folder, 'test'))
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => testFile(`${folder}/test/${file}`, `${folder}/.test/${file.replace(/\.ts$/, '.js')}`)),
  );
  const plain = filesBelow(join(root, 'scripts/test'))
    .filter((file) => file.endsWith('.test.mjs') && !file.startsWith('fixtures/'))
    .map((file) => testFile(`scripts/test/${file}`, `scripts/test/${file}`));
  return [...plain, ...compiled];
}

/** @param {string} name @param {string} path @returns {TestFile} */
function testFile(name, path) {
  return { name, path: join(root, path), source: readFileSync(join(root, name), 'utf8') };
}

/**
 * A filter is part of a path, such as `core`, `wal/recovery` or `mailbox.test.ts`. The path of a .test.mjs file that
 * exists is that file, wherever it is.
 * @param {string[]} filters @returns {TestFile[]}
 */
export function selectTests(filters) {
  if (filters.length === 0) return testFiles();
  const given = filters.filter(isPlainFile);
  const parts = filters.filter((filter) => !isPlainFile(filter));
  const found =
    parts.length === 0 ? [] : testFiles().filter(({ name }) => parts.some((part) => name.includes(part)));
  return [...given.map((file) => testFile(file, file)), ...found];
}

/** @param {string} filter */
export function isPlainFile(filter) {
  return filter.endsWith('.test.mjs') && existsSync(join(root, filter));
}
