// The values that the code takes for an option that is not given: `{ seeds = 200 }`, `options.seeds ?? 200`, and fields of
// constants whose name begins with DEFAULT.
import ts from 'typescript-api';
import { constantValue } from './constant-value.mjs';

/** @typedef {import('./source-index.mjs').SourceIndex} SourceIndex */

/** @type {WeakMap<ts.SourceFile, Map<string, ts.Expression[]>>} */
const known = new WeakMap();

/**
 * The difference between the default that a comment states and the code, or undefined. Prose is not compared.
 * @param {SourceIndex} index @param {import('./member-list.mjs').Member} member
 * @param {{ type: string, files: readonly string[] }} of the type, and files where its options are read
 */
export function defaultProblem(index, member, { type, files }) {
  const stated = statedValue(member.doc.default ?? '');
  if (stated === undefined) return undefined;
  const folder = member.file.split('/').slice(0, 3).join('/');
  const near = index.filesWith(folder, new RegExp(`\\b${type}\\b`));
  const inNear = valuesOf(index, [...new Set([...files, ...near])], member.name);
  const isFar = inNear.length === 0 && typeof stated === 'number';
  const values = isFar ? valuesOf(index, index.filesWith(folder, /./), member.name) : inNear;
  if (values.includes(stated)) return undefined;
  if (values.length > 0)
    return `the comment says Default ${stated}, the code has ${[...new Set(values)].join(' or ')}`;
  // An option that is not given is undefined, which is false; a word is compared where the code names one.
  if (stated === false || typeof stated === 'string') return undefined;
  return `the comment says Default ${stated}, the code has no such value`;
}

const FACTORS = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The value at the beginning of a stated default: `10,000 each`, `4 MiB, at most …`, `'binary'`. @param {string} text @returns {unknown} */
function statedValue(text) {
  if (/^(true|false)$/.test(text)) return text.startsWith('true');
  const word = /^[`']([\w-]+)[`']$/.exec(text)?.[1];
  if (word !== undefined) return word;
  const match = /^(\d{1,3}(?:,\d{3})*|\d+)(\.\d+)?(?: (KiB|MiB|GiB|s|min|h|d))?(?=[;:,]? |[;:,]?$)/.exec(
    text,
  );
  if (match === null) return undefined;
  const unit = /** @type {keyof typeof FACTORS | undefined} */ (match[3]);
  return (
    Number((match[1] ?? '').replaceAll(',', '') + (match[2] ?? '')) * (unit === undefined ? 1 : FACTORS[unit])
  );
}

/** Values in these files, as far as they are constant. @param {SourceIndex} index @param {readonly string[]} files @param {string} option @returns {unknown[]} */
function valuesOf(index, files, option) {
  const name = option.split('.').at(-1) ?? '';
  return files.flatMap((file) =>
    defaultsIn(index.sourceFile(file), name)
      .flatMap(alternatives)
      .map((expression) => constantValue(index, file, expression))
      .filter((value) => ['number', 'boolean', 'string'].includes(typeof value)),
  );
}

/** `Math.min(room, 16 * MIB)` is one of its arguments. @param {ts.Expression} node @returns {readonly ts.Expression[]} */
function alternatives(node) {
  const isEither = ts.isCallExpression(node) && /^Math\.(min|max)$/.test(node.expression.getText());
  return isEither ? node.arguments : [node];
}

/** @param {ts.SourceFile} source @param {string} name @returns {readonly ts.Expression[]} */
function defaultsIn(source, name) {
  let defaults = known.get(source);
  if (defaults === undefined) {
    defaults = new Map();
    collect(source, defaults, false);
    known.set(source, defaults);
  }
  return defaults.get(name) ?? [];
}

/** @param {ts.Node} node @param {Map<string, ts.Expression[]>} defaults @param {boolean} isInConstant */
function collect(node, defaults, isInConstant) {
  const found = defaultIn(node, isInConstant);
  if (found !== undefined) defaults.set(found.name, [...(defaults.get(found.name) ?? []), found.value]);
  const isIn =
    isInConstant ||
    (ts.isVariableDeclaration(node) && /^DEFAULT/.test(node.name.getText())) ||
    (ts.isObjectLiteralExpression(node) && ts.isBinaryExpression(node.parent));
  ts.forEachChild(node, (child) => collect(child, defaults, isIn));
}

/** @param {ts.Node} node @param {boolean} isInConstant @returns {{ name: string, value: ts.Expression } | undefined} */
function defaultIn(node, isInConstant) {
  if (ts.isBindingElement(node) && node.initializer !== undefined)
    return { name: (node.propertyName ?? node.name).getText(), value: node.initializer };
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return { name: node.left.getText().split(/\??\./).at(-1) ?? '', value: node.right };
  if (isInConstant && ts.isPropertyAssignment(node))
    return { name: node.name.getText(), value: node.initializer };
  return undefined;
}
