// The files a check looks at. A check is a function from a tree to its findings, so its tests need no disk.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../workspace.mjs';
import { importsOf } from './imports.mjs';
import { readSource } from './source-text.mjs';

/** @typedef {{ file: string, line?: number, text: string }} Finding */
/** @typedef {import('./imports.mjs').Import} Import */

export class Tree {
  /** @type {Map<string, string>} */
  #texts;
  /** @type {Map<string, import('./source-text.mjs').SourceText>} */
  #sources = new Map();

  /** @param {Map<string, string>} texts by path from the root, with forward slashes */
  constructor(texts) {
    this.#texts = texts;
  }

  /** @param {Record<string, string>} texts */
  static of(texts) {
    return new Tree(new Map(Object.entries(texts)));
  }

  /** Paths that match, in order. @param {RegExp} [pattern] */
  paths(pattern = /^/) {
    return [...this.#texts.keys()].filter((path) => pattern.test(path)).sort();
  }

  /** @param {string} path */
  has(path) {
    return this.#texts.has(path);
  }

  /** Whether something in the tree is below this folder. @param {string} path */
  hasFolder(path) {
    return path === '' || this.paths().some((file) => file.startsWith(`${path}/`));
  }

  /** @param {string} path */
  text(path) {
    return this.#texts.get(path) ?? '';
  }

  /** @param {string} path */
  source(path) {
    let source = this.#sources.get(path);
    if (source === undefined) {
      source = readSource(this.text(path));
      this.#sources.set(path, source);
    }
    return source;
  }

  /** @param {string} path @returns {Import[]} */
  imports(path) {
    return importsOf(this.source(path));
  }
}

/** Texts of the repository; a binary file is there, with an empty one. @param {string} root */
export function readTree(root) {
  const paths = listed(root).filter((path) => isFile(join(root, path)));
  const texts = paths.map(
    (path) => /** @type {[string, string]} */ ([path, readFileSync(join(root, path), 'utf8')]),
  );
  return new Tree(new Map(texts.map(([path, text]) => [path, text.includes('\0') ? '' : text])));
}

/** Files that git knows or would add; without git (a downloaded archive), files that no build made. @param {string} root */
function listed(root) {
  if (!existsSync(join(root, '.git'))) {
    return filesBelow(root).filter((path) => !/(^|\/)(dist|\.test|\.snippets)\//.test(path));
  }
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  return execFileSync('git', args, { cwd: root })
    .toString()
    .split('\0')
    .filter((path) => path !== '');
}

/** @param {string} path */
function isFile(path) {
  return existsSync(path) && statSync(path).isFile();
}
