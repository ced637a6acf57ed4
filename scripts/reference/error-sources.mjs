// The pages whose sources make an error, by code.
/** @typedef {import('../tidy/tree.mjs').Tree} Tree */

/** Codes by page, in the order of docs/errors.md. @param {Tree} tree @param {readonly import('./pages.mjs').Page[]} pages @returns {Map<string, string[]>} */
export function errorsByPage(tree, pages) {
  const codes = [...tree.text('docs/errors.md').matchAll(/^### (ERR_\w+)/gm)].map((match) => match[1] ?? '');
  const files = tree.paths(/^packages\/(?!cli\/)[^/]+\/src\/.*\.ts$/);
  const byClass = codesByClass(tree, files);
  /** @type {Map<string, Set<string>>} */
  const found = new Map(pages.map(({ name }) => [name, new Set()]));
  for (const file of files) {
    const page = pageOf(pages, file);
    const text = tree.text(file);
    const isCatalogue = /error(s|-classes)?\.ts$/.test(file);
    for (const [, name = ''] of isCatalogue ? [] : text.matchAll(/new (\w+Error)\(/g))
      for (const code of byClass.get(name) ?? []) found.get(page)?.add(code);
    for (const [, code = ''] of text.matchAll(/'(ERR_[A-Z_]+)'/g))
      if (!isCatalogue || !isInSomeClass(byClass, code)) found.get(page)?.add(code);
  }
  const home = new Set([...found.values()].flatMap((set) => [...set]));
  // An error that no `new` names is at the page of the file that declares it.
  for (const file of files)
    for (const [, code = ''] of tree.text(file).matchAll(/'(ERR_[A-Z_]+)'/g))
      if (!home.has(code)) found.get(pageOf(pages, file))?.add(code);
  return new Map([...found].map(([page, set]) => [page, codes.filter((code) => set.has(code))]));
}

/** @param {Tree} tree @param {readonly string[]} files */
function codesByClass(tree, files) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const file of files)
    for (const part of tree
      .text(file)
      .split(/^export (?:abstract )?class /m)
      .slice(1)) {
      const name = /^\w+/.exec(part)?.[0] ?? '';
      const codes = [...part.matchAll(/'(ERR_[A-Z_]+)'/g)].map((match) => match[1] ?? '');
      if (name.endsWith('Error') && codes.length > 0) found.set(name, codes.slice(0, 1));
    }
  return found;
}

/** @param {ReadonlyMap<string, readonly string[]>} byClass @param {string} code */
function isInSomeClass(byClass, code) {
  return [...byClass.values()].some((codes) => codes.includes(code));
}

/** The page with the longest folder that holds the file. @param {readonly import('./pages.mjs').Page[]} pages @param {string} file */
function pageOf(pages, file) {
  let best = { name: '', length: 0 };
  for (const { name, sources } of pages)
    for (const source of sources)
      if (file.startsWith(source) && source.length > best.length) best = { name, length: source.length };
  return best.name;
}
