// Import cycles between source files. Type-only imports are erased and cannot make one.
import { resolveImport } from './imports.mjs';

/** @typedef {import('./tree.mjs').Tree} Tree */

/** @param {Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkCycles(tree) {
  const files = tree.paths(/^(packages\/[^/]+|bench)\/src\/.*\.ts$/);
  const graph = new Map(files.map((file) => [file, valueImports(tree, file)]));
  /** @type {Set<string>} */
  const done = new Set();
  return files.flatMap((file) => {
    const cycle = findCycle(graph, file, [], done);
    if (cycle === undefined) return [];
    return [{ file: cycle[0] ?? file, text: `import cycle: ${[...cycle, cycle[0]].join(' → ')}` }];
  });
}

/** @param {Tree} tree @param {string} file */
function valueImports(tree, file) {
  return tree
    .imports(file)
    .filter(({ specifier, typeOnly }) => !typeOnly && specifier.startsWith('.'))
    .map(({ specifier }) => resolveImport(file, specifier))
    .filter((target) => tree.has(target));
}

/**
 * Depth first; a file whose every path has been walked is done and cannot be part of a cycle found later.
 * @param {Map<string, string[]>} graph @param {string} file @param {string[]} path @param {Set<string>} done
 * @returns {string[] | undefined}
 */
function findCycle(graph, file, path, done) {
  const seenAt = path.indexOf(file);
  if (seenAt !== -1) return path.slice(seenAt);
  if (done.has(file)) return undefined;
  for (const target of graph.get(file) ?? []) {
    const cycle = findCycle(graph, target, [...path, file], done);
    if (cycle !== undefined) {
      done.add(file);
      return cycle;
    }
  }
  done.add(file);
  return undefined;
}
