// The import statements of a file.
import { posix } from 'node:path';
import { lineAt } from './source-text.mjs';

/**
 * @typedef {object} Import
 * @property {string} specifier
 * @property {boolean} typeOnly erased by the compiler
 * @property {number} line
 */

const statement =
  /(?:^|[;}\n])\s*(?:import|export)\s+(type\s+)?([^'"();]*?)\s*from\s*(['"])([^'"]+)\3|(?:^|[;}\n])\s*import\s*(['"])([^'"]+)\5|\bimport\s*\(\s*(['"`])([^'"`]+)\7|\brequire\s*\(\s*(['"])([^'"]+)\9/g;

/** @param {string} text without comments @returns {Import[]} */
export function importsOf(text) {
  return [...text.matchAll(statement)].map((match) => {
    const [whole, typeKeyword, names = '', , from, , bare, , dynamic, , required] = match;
    const specifier = from ?? bare ?? dynamic ?? required ?? '';
    const typeOnly =
      isInTypePosition(text, match) || (from !== undefined && (typeKeyword !== undefined || allTypes(names)));
    return { specifier, typeOnly, line: lineAt(text, match.index + whole.length) };
  });
}

/** `{ type A, type B }`: every name is a type. @param {string} names */
function allTypes(names) {
  const inBraces = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
  if (inBraces === undefined) return false;
  const parts = inBraces.split(',').map((part) => part.trim());
  return parts.some((part) => part !== '') && parts.every((part) => part === '' || part.startsWith('type '));
}

/** `import('x').Name` as a type is followed by a member and preceded by a colon, bar or angle. */
/** @param {string} text @param {RegExpMatchArray} match */
function isInTypePosition(text, match) {
  if (!match[0].startsWith('import') || match[8] === undefined) return false;
  return (
    /(typeof|[:|&<,])\s*$/.test(text.slice(0, match.index)) && !/await\s*$/.test(text.slice(0, match.index))
  );
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
