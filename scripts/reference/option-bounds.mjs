// The bounds of an option, from the rule that checks it: `capacity: wholeNumber(1)`, or `checkOption('capacity', …)`.
import ts from 'typescript-api';
import { constantValue } from './constant-value.mjs';
import { unitOf, valueText } from './unit-text.mjs';

/** @typedef {import('./source-index.mjs').SourceIndex} SourceIndex */
/** @typedef {import('./constant-value.mjs').Scope} Scope */

/** Looks in these files, in this order. Empty where no rule bounds the value. @param {SourceIndex} index @param {readonly string[]} files @param {string} option @returns {string} */
export function boundsOf(index, files, option) {
  const name = option.split('.').at(-1) ?? '';
  for (const file of files) {
    for (const rule of rulesIn(index.sourceFile(file), name)) {
      const text = ruleText(index, file, rule, name);
      if (text !== '') return text;
    }
  }
  return '';
}

/** @type {WeakMap<ts.SourceFile, Map<string, ts.Expression[]>>} */
const known = new WeakMap();

/** @param {ts.SourceFile} source @param {string} name @returns {readonly ts.Expression[]} */
function rulesIn(source, name) {
  let rules = known.get(source);
  if (rules === undefined) {
    rules = new Map();
    collect(source, rules);
    known.set(source, rules);
  }
  return rules.get(name) ?? [];
}

/** @param {ts.Node} node @param {Map<string, ts.Expression[]>} rules */
function collect(node, rules) {
  const found = ruleIn(node);
  if (found !== undefined) rules.set(found.name, [...(rules.get(found.name) ?? []), found.rule]);
  ts.forEachChild(node, (child) => collect(child, rules));
}

/** @param {ts.Node} node @returns {{ name: string, rule: ts.Expression } | undefined} */
function ruleIn(node) {
  if (ts.isPropertyAssignment(node)) return { name: node.name.getText(), rule: node.initializer };
  if (ts.isShorthandPropertyAssignment(node)) return { name: node.name.text, rule: node.name };
  return ts.isCallExpression(node) ? checkIn(node) : undefined;
}

/** `checkOption('turn.ms', value, rule)` and `integer('ms', value, 0, 100)`. @param {ts.CallExpression} node */
function checkIn(node) {
  const [first, , rule] = node.arguments;
  const callee = node.expression.getText();
  if (first === undefined || !ts.isStringLiteral(first)) return undefined;
  const name = first.text.split('.').at(-1) ?? '';
  if (callee === 'checkOption') return rule === undefined ? undefined : { name, rule };
  return callee === 'integer' || callee === 'pages' ? { name, rule: node } : undefined;
}

/** @param {SourceIndex} index @param {string} file @param {ts.Expression} rule @param {string} name @param {Scope} [scope] @returns {string} */
function ruleText(index, file, rule, name, scope = {}) {
  if (ts.isIdentifier(rule)) {
    const declared = index.resolve(file, rule.text);
    if (declared === undefined || !ts.isVariableDeclaration(declared.node)) return '';
    const { initializer } = declared.node;
    if (initializer === undefined || declared.file.endsWith('core/src/option-check.ts')) return '';
    return ruleText(index, declared.file, initializer, name);
  }
  if (!ts.isCallExpression(rule)) return '';
  const given = rule.arguments.map((argument) => constantValue(index, file, argument, scope));
  const unit = unitOf(name);
  switch (rule.expression.getText()) {
    case 'wholeNumber':
      return range(given[0], given[1] ?? Number.POSITIVE_INFINITY, unit, rule.arguments.length > 1);
    case 'number':
      return range(given[0], given[1] ?? Number.POSITIVE_INFINITY, unit, rule.arguments.length > 1);
    case 'numberAbove':
      return `above ${valueText(given[0], unit)}`;
    case 'integer':
    case 'pages':
      return range(given[2], given[3] ?? Number.POSITIVE_INFINITY, unit, false);
    case 'text':
      return `1 to ${valueText(given[0], undefined)} bytes of text`;
    case 'rule':
      return typeof given[0] === 'string' && !/^(an? (function|Abort|name$|object)|one of)/.test(given[0])
        ? given[0].replaceAll('|', '\\|')
        : '';
    case 'listOf': {
      const [element] = rule.arguments;
      const text = element === undefined ? '' : ruleText(index, file, element, name, scope);
      return text === '' ? '' : `each: ${text}`;
    }
    case 'atMost': {
      const [list] = rule.arguments;
      const text = list === undefined ? '' : ruleText(index, file, list, name, scope);
      return typeof given[1] === 'number' ? [`at most ${given[1]}`, text].filter(Boolean).join('; ') : text;
    }
    default:
      return madeRule(index, file, rule, name, given);
  }
}

/** A function that returns a rule, with its arguments. @param {SourceIndex} index @param {string} file @param {ts.CallExpression} call @param {string} name @param {unknown[]} given */
function madeRule(index, file, call, name, given) {
  if (!ts.isIdentifier(call.expression)) return '';
  const declared = index.resolve(file, call.expression.text);
  if (declared === undefined || !ts.isFunctionDeclaration(declared.node)) return '';
  const [statement] = declared.node.body?.statements ?? [];
  if (statement === undefined || !ts.isReturnStatement(statement) || statement.expression === undefined)
    return '';
  const scope = Object.fromEntries(
    declared.node.parameters.map((parameter, at) => [parameter.name.getText(), given[at]]),
  );
  return ruleText(index, declared.file, statement.expression, name, scope);
}

/** @param {unknown} min @param {unknown} max @param {import('./unit-text.mjs').Unit} unit @param {boolean} hasMax */
function range(min, max, unit, hasMax) {
  if (typeof min !== 'number') return '';
  if (max === Number.POSITIVE_INFINITY)
    return hasMax ? `${valueText(min, unit)} to ∞` : `≥ ${valueText(min, unit)}`;
  return typeof max === 'number'
    ? `${valueText(min, unit)} to ${valueText(max, unit)}`
    : `≥ ${valueText(min, unit)}`;
}
