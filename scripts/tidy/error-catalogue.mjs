// Every error code in the sources has its entry in docs/errors.md, and every entry its code.
import { lineAt } from './source-text.mjs';

const page = 'docs/errors.md';

/** Codes of Node that our sources compare with. */
const nodesOwn = new Set([
  'ERR_BUFFER_TOO_LARGE',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_WORKER_OUT_OF_MEMORY',
]);

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkErrorCatalogue(tree) {
  /** @type {Map<string, { file: string, line: number }>} */
  const used = new Map();
  for (const file of tree.paths(/^packages\/[^/]+\/src\/.*\.ts$/)) {
    const text = tree.source(file).withStrings;
    for (const match of text.matchAll(/(['"`])(ERR_[A-Z0-9_]+)\1/g)) {
      const code = match[2] ?? '';
      if (!used.has(code) && !nodesOwn.has(code)) used.set(code, { file, line: lineAt(text, match.index) });
    }
  }
  const documented = [...tree.text(page).matchAll(/^### `?(ERR_[A-Z0-9_]+)`?\s*$/gm)].map(
    (match) => match[1] ?? '',
  );
  return [
    ...[...used]
      .filter(([code]) => !documented.includes(code))
      .map(([code, where]) => ({ ...where, text: `${code} has no entry "### ${code}" in ${page}` })),
    ...documented
      .filter((code) => !used.has(code))
      .map((code) => ({ file: page, text: `${code} is thrown nowhere` })),
    ...documented
      .filter((code, at) => documented.indexOf(code) !== at)
      .map((code) => ({ file: page, text: `${code} has two entries` })),
  ];
}
