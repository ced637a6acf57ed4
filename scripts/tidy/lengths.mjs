// Files and functions that have grown long. Printed, never enforced: a limit would be met by cutting in the wrong place.
import { lineAt } from './source-text.mjs';

const linesMax = { file: 250, function: 60 };
const measured = /^((packages\/[^/]+|bench)\/src|scripts)\/.*\.(ts|mjs)$/;
const head =
  /\bfunction\s*\*?\s*([\w$]*)[^{};]*\{|(?:^|\n)[ \t]+(?:(?:static|async|get|set|public|private|protected|override)\s+)*\*?(#?[\w$]+|\[[^\]\n]+\])\s*(?:<[^>{}]*>)?\([^{};]*\)[^{};=]*\{|(?:([\w$]+)\s*[:=]\s*)?(?:async\s*)?(?:\([^(){};]*\)|[\w$]+)(?:\s*:[^={};]+)?\s*=>\s*\{/g;
const notFunctions = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'return']);

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function longOnes(tree) {
  return tree.paths(measured).flatMap((file) => {
    const lines = tree.text(file).split('\n').length - 1;
    const long = lines > linesMax.file ? [{ file, text: `${lines} lines` }] : [];
    return [...long, ...longFunctions(file, tree.source(file).code)];
  });
}

/** @param {string} file @param {string} code */
function longFunctions(file, code) {
  return [...code.matchAll(head)].flatMap((match) => {
    const name = match[1] || match[2] || match[3] || 'a function';
    if (notFunctions.has(name)) return [];
    const line = lineAt(code, match.index + match[0].search(/\S/));
    const lines = lineAt(code, closingBrace(code, match.index + match[0].length)) - line + 1;
    return lines > linesMax.function ? [{ file, line, text: `${name} is ${lines} lines` }] : [];
  });
}

/** @param {string} code @param {number} from just after the opening brace */
function closingBrace(code, from) {
  let depth = 1;
  let at = from;
  for (; at < code.length && depth > 0; at += 1) {
    if (code[at] === '{') depth += 1;
    if (code[at] === '}') depth -= 1;
  }
  return at;
}
