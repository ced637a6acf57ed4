// Files and functions that have grown long. Printed, never enforced: a limit would be met by cutting in the wrong place.
import { lineAt } from './source-text.mjs';

const linesMax = { file: 250, function: 60 };
const measured = /^((packages\/[^/]+|bench)\/src|scripts(?!\/test))\/.*\.(ts|mjs)$/;
const notFunctions = new Set(['if', 'for', 'while', 'switch', 'catch', 'with']);

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
  return longBlocks(code).flatMap(({ from, to }) => {
    const name = functionBefore(code.slice(0, from));
    if (name === undefined) return [];
    const [first, last] = [lineAt(code, from), lineAt(code, to)];
    return [{ file, line: first, text: `${name} is ${last - first + 1} lines` }];
  });
}

/** Pairs of braces with more lines between them than a function should have. @param {string} code */
function longBlocks(code) {
  const open = [];
  const blocks = [];
  for (const { index: at, 0: brace } of code.matchAll(/[{}]/g)) {
    if (brace === '{') open.push(at);
    const from = brace === '}' ? open.pop() : undefined;
    if (from !== undefined && code.slice(from, at).split('\n').length > linesMax.function)
      blocks.push({ from, to: at });
  }
  return blocks.sort((a, b) => a.from - b.from);
}

/** The name of the function whose body comes next, if a body comes next. @param {string} before */
function functionBefore(before) {
  const head = before.trimEnd();
  if (head.endsWith('=>'))
    return /([\w$#]+)\s*[:=]\s*(?:async\s*)?\(?[^;{}]*$/.exec(head.slice(-400))?.[1] ?? 'a function';
  const parameters = /^([\s\S]*\))\s*:[^;{}=]*$/.exec(head)?.[1] ?? head;
  if (!parameters.endsWith(')')) return undefined;
  const name = /([\w$#]*)\s*(?:<[^<>]*>)?\s*$/.exec(parameters.slice(0, openingOf(parameters)))?.[1] ?? '';
  return notFunctions.has(name) ? undefined : name || 'a function';
}

/** Where the parenthesis that ends the text was opened. @param {string} text */
function openingOf(text) {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === ')') depth += 1;
    if (text[at] === '(') depth -= 1;
    if (depth === 0) return at;
  }
  return 0;
}
