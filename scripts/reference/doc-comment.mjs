// The comment of a declaration. Convention: a sentence or clause that begins with "Default" is the default of an option.
import ts from 'typescript-api';

/** @typedef {{ meaning: string, default: string | undefined }} Doc */

/** @param {ts.Node} node @returns {Doc} */
export function docOf(node) {
  const text = node.getSourceFile().text;
  const ranges = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  const comments = ranges.map(({ pos, end }) => text.slice(pos, end)).filter((one) => one.startsWith('/**'));
  return readDoc(comments.at(-1) ?? '');
}

/** The comment that stands directly before this position, as before the `|` of a union. @param {string} text @param {number} at @returns {Doc} */
export function docBefore(text, at) {
  const match = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*\|?\s*$/.exec(text.slice(0, at));
  return readDoc(match?.[0] ?? '');
}

/** @param {string} comment @returns {Doc} */
function readDoc(comment) {
  const body = comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/\s*\|?\s*$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''));
  // A table of spaces in a comment stays a list of lines.
  const text = body
    .join('\n')
    .trim()
    .replace(/\n\n/g, '<br>')
    .replace(/\n {2,}/g, '<br>')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\{@link (\w+)\}/g, '`$1`');
  const match = /(^|[.;] |<br>)[Dd]efault:? (.+?)(?=\.(?:\s|$)|$)\.?/.exec(text);
  if (match === null) return { meaning: text, default: undefined };
  const before = text.slice(0, match.index).replace(/[;.]$/, '');
  const after = text.slice(match.index + match[0].length).trim();
  const meaning = [before === '' ? '' : `${before}.`, after].filter((part) => part !== '').join(' ');
  return { meaning, default: match[2] };
}
