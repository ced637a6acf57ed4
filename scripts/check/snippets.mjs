// Fenced blocks that open with "ts run" in the READMEs and docs/ are programs: compiled and run like the examples.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBelow, root } from '../workspace.mjs';

export const snippetFolder = 'docs/examples/.snippets';

/**
 * @param {string} markdown
 * @returns {{ line: number, code: string }[]} the snippets, each with the line its code begins on
 */
export function snippetsIn(markdown) {
  const snippets = [];
  const fence = /^```ts run[ \t]*\n([\s\S]*?)^```[ \t]*$/gm;
  for (const match of markdown.matchAll(fence)) {
    const line = markdown.slice(0, match.index).split('\n').length + 1;
    snippets.push({ line, code: match[1] ?? '' });
  }
  return snippets;
}

function pages() {
  const docs = filesBelow(join(root, 'docs')).map((file) => `docs/${file}`);
  const packages = filesBelow(join(root, 'packages')).map((file) => `packages/${file}`);
  const readmes = packages.filter((file) => /^packages\/[^/]+\/README\.md$/.test(file));
  return ['README.md', ...docs.filter((file) => file.endsWith('.md')), ...readmes].filter((file) =>
    existsSync(join(root, file)),
  );
}

/** Writes the snippets where the examples' project finds them; files that did not change keep their time. */
export function writeSnippets() {
  const kept = new Set();
  for (const page of pages()) {
    for (const { line, code } of snippetsIn(readFileSync(join(root, page), 'utf8'))) {
      const name = `${page
        .replace(/\.md$/, '')
        .replace(/[^A-Za-z0-9]+/g, '-')
        .toLowerCase()}-line-${line}.ts`;
      kept.add(name);
      write(join(root, snippetFolder, name), `// ${page}:${line}\n${code}`);
    }
  }
  for (const name of filesBelow(join(root, snippetFolder))) {
    if (!kept.has(name)) rmSync(join(root, snippetFolder, name));
  }
}

/** @param {string} path @param {string} text */
function write(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
