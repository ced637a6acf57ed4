// The pages of docs/reference are those that the sources make, and no option, hook or event lacks its comment.
import { COMMAND_PAGE, commandPage } from '../reference/command-page.mjs';
import { generateReference } from '../reference/generate-reference.mjs';

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkReference(tree) {
  const { texts, findings } = generateReference(tree);
  const stale = [...texts].filter(([path, text]) => tree.text(path) !== text);
  const foreign = tree.paths(/^docs\/reference\//).filter((path) => !texts.has(path));
  return [
    ...findings,
    ...stale.map(([file]) => ({ file, text: 'is out of date: npm run reference' })),
    ...foreign.map((file) => ({ file, text: 'is made by no source: npm run reference' })),
  ];
}

/** docs/cli.md names every command and option. @param {import('./tree.mjs').Tree} tree */
export function checkCommandPage(tree) {
  const text = tree.text(COMMAND_PAGE);
  const made = commandPage(text);
  if (made === undefined) return [{ file: COMMAND_PAGE, text: 'cannot be checked before npm run build' }];
  return made === text
    ? []
    : [{ file: COMMAND_PAGE, text: 'is out of date: npm run build, npm run reference' }];
}
