// Files name no registry host and no path of one machine: both work for one person only.
import { lineAt } from './source-text.mjs';

// Put together from pieces, so that this file does not find itself.
const rules = [
  {
    files: /(^|\/)(pnpm-lock\.yaml|package-lock\.json|\.npmrc|pnpm-workspace\.yaml|package\.json)$/,
    pattern:
      /tarball: *https?:[^\s}]*|"resolved": *"https?:[^"]*|^.*\bregistry\s*=.*$|https?:\/\/[^\s"']*registry[^\s"']*/gm,
  },
  { files: /^/, pattern: new RegExp(`https?://${'registry'}\\.[\\w.-]+`, 'g') },
  {
    files: /^/,
    pattern: new RegExp(
      `(?<![\\w./~}$-])/(${['tmp', 'root', 'work', 'farm', 'home', 'Users'].join('|')})/[A-Za-z][\\w./-]*`,
      'g',
    ),
  },
];

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkPlaces(tree) {
  return rules.flatMap(({ files, pattern }) =>
    tree.paths(files).flatMap((file) => {
      const text = tree.text(file);
      return [...text.matchAll(pattern)].map((match) => ({
        file,
        line: lineAt(text, match.index),
        text: `${match[0].trim()}: names a host or a place that others do not have`,
      }));
    }),
  );
}
