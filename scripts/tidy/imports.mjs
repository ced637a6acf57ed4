// The import statements of a file.
import { posix } from 'node:path';
import { lineAt } from './source-text.mjs';

/**
 * @typedef {object} Import
 * @property {string} specifier
 * @property {boolean} typeOnly erased by the compiler
 * @property {number} line
 */

// Matched where strings are blank, so that an import inside a string is none; the specifier is read from the other text.
const statements = [
  {
    pattern: /(?:^|[;}\n])\s*(?:import|export)\s+(type\s)?([^'"`();]*?)\s*from\s*['"]( *)['"]/g,
    kind: 'from',
  },
  { pattern: /(?:^|[;}\n])\s*import\s*['"]( *)['"]/g, kind: 'bare' },
  { pattern: /\b(?:import|require)\s*\(\s*['"`]( *)['"`]/g, kind: 'call' },
];

/** @param {import('./source-text.mjs').SourceText} source @returns {Import[]} */
export function importsOf({ code, withStrings }) {
  return statements.flatMap(({ pattern, kind }) =>
    [...code.matchAll(pattern)].map((match) => {
      const end = match.index + match[0].length - 1;
      const specifier = withStrings.slice(end - (match.at(-1) ?? '').length, end);
      const typeOnly =
        kind === 'from'
          ? match[1] !== undefined || allTypes(match[2] ?? '')
          : kind === 'call' && isType(code.slice(0, match.index));
      return { specifier, typeOnly, line: lineAt(code, end) };
    }),
  );
}

/** `{ type A, type B }`: every name is a type. @param {string} names */
function allTypes(names) {
  const inBraces = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
  if (inBraces === undefined) return false;
  const parts = inBraces.split(',').map((part) => part.trim());
  return parts.some((part) => part !== '') && parts.every((part) => part === '' || part.startsWith('type '));
}

/** `import('x').Name` stands for a type after a colon, a bar, an angle or typeof. @param {string} before */
function isType(before) {
  return /(\btypeof|[:|&<])\s*$/.test(before);
}

/**
 * The source file a relative import means. @param {string} from @param {string} specifier
 */
export function resolveImport(from, specifier) {
  const path = posix.join(posix.dirname(from), specifier);
  return path.replace(/\.js$/, '.ts');
}

/** `@troupe/wal/testing` → `@troupe/wal`. @param {string} specifier */
export function packageOf(specifier) {
  const [scope = '', name] = specifier.split('/');
  return scope.startsWith('@') && name !== undefined ? `${scope}/${name}` : scope;
}
