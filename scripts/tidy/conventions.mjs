// Conventions that a formatter does not know: one style of privacy, one form of callbacks, the width of comments.
import { lineAt } from './source-text.mjs';

/** @typedef {import('./tree.mjs').Tree} Tree */
/** @typedef {import('./tree.mjs').Finding} Finding */

const source = /^packages\/[^/]+\/src\/.*\.ts$/;
const commentWidth = 110;

const rules = [
  { pattern: /#[a-zA-Z_]\w*/g, text: 'a member is private by the keyword, not by #' },
  {
    pattern: /\(\s*error\??: \w*Error \| undefined(?=[,)])/g,
    text: 'a callback gets (error: Error | null, value)',
  },
  {
    pattern: /\b\w+\(\w+: \(\) => void\): void;/g,
    files: /-(protocol|actor)\.ts$/,
    text: 'a message is data with a name, never a function',
  },
  {
    pattern: /\boverflow: 'grow'/g,
    files: /^packages\/(jobs|transport|wal|cli)\//,
    inStrings: true,
    text: 'a mailbox of the product is bounded',
  },
];

/** @param {Tree} tree @returns {Finding[]} */
export function checkConventions(tree) {
  return tree.paths(source).flatMap((file) => {
    const { code, withStrings } = tree.source(file);
    const found = rules.flatMap(({ pattern, text, files = source, inStrings = false }) =>
      [...(files.test(file) ? (inStrings ? withStrings : code) : '').matchAll(pattern)].map((match) => ({
        file,
        line: lineAt(code, match.index),
        text: `${match[0].trim()}: ${text}`,
      })),
    );
    return [...found, ...wideComments(tree, file)];
  });
}

/** @param {Tree} tree @param {string} file */
function wideComments(tree, file) {
  const lines = tree.text(file).split('\n');
  return lines.flatMap((line, at) => {
    const isComment = /^\s*(\/\/|\/?\*)/.test(line);
    if (!isComment || line.length <= commentWidth) return [];
    return [{ file, line: at + 1, text: `a comment of ${line.length} columns: at most ${commentWidth}` }];
  });
}

const folderFilesMax = 12;

/** Folders that hold more files than a reader looks over at once. Printed, never enforced. @param {Tree} tree */
export function fullFolders(tree) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const file of tree.paths(/^(packages\/[^/]+|bench)\/src\/.*\.ts$/)) {
    const folder = file.slice(0, file.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > folderFilesMax)
    .map(([file, count]) => ({ file, text: `${count} files in one folder` }));
}
