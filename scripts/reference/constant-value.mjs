// The value of a constant expression, as far as it can be known without running the code.
import ts from 'typescript-api';

/** @typedef {import('./source-index.mjs').SourceIndex} SourceIndex */
/** @typedef {Readonly<Record<string, unknown>>} Scope values of parameters */

/** Undefined where it is not constant. @param {SourceIndex} index @param {string} file @param {ts.Expression} node @param {Scope} [scope] @returns {unknown} */
export function constantValue(index, file, node, scope = {}) {
  const value = (/** @type {ts.Expression} */ inner) => constantValue(index, file, inner, scope);
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''));
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return value(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return negated(node, value);
  if (ts.isBinaryExpression(node)) return calculated(node, value);
  if (ts.isTemplateExpression(node)) return filled(node, value);
  if (ts.isArrayLiteralExpression(node)) return allKnown(node.elements.map(value));
  if (ts.isObjectLiteralExpression(node)) return objectValue(node, value);
  if (ts.isIdentifier(node)) return named(index, file, node.text, scope);
  if (ts.isPropertyAccessExpression(node)) return property(node, value);
  if (ts.isCallExpression(node) && node.expression.getText() === 'Object.freeze')
    return node.arguments[0] && value(node.arguments[0]);
  return undefined;
}

/** @param {SourceIndex} index @param {string} file @param {string} name @param {Scope} scope @returns {unknown} */
function named(index, file, name, scope) {
  if (name in scope) return scope[name];
  const declared = index.resolve(file, name);
  if (declared === undefined || !ts.isVariableDeclaration(declared.node)) return undefined;
  const { initializer } = declared.node;
  return initializer === undefined ? undefined : constantValue(index, declared.file, initializer);
}

/** @param {ts.PrefixUnaryExpression} node @param {(node: ts.Expression) => unknown} value */
function negated(node, value) {
  const operand = value(node.operand);
  return node.operator === ts.SyntaxKind.MinusToken && typeof operand === 'number' ? -operand : undefined;
}

/** @param {ts.BinaryExpression} node @param {(node: ts.Expression) => unknown} value */
function calculated(node, value) {
  const left = value(node.left);
  const right = value(node.right);
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  switch (node.operatorToken.kind) {
    case ts.SyntaxKind.PlusToken:
      return left + right;
    case ts.SyntaxKind.MinusToken:
      return left - right;
    case ts.SyntaxKind.AsteriskToken:
      return left * right;
    case ts.SyntaxKind.SlashToken:
      return left / right;
    case ts.SyntaxKind.AsteriskAsteriskToken:
      return left ** right;
    default:
      return undefined;
  }
}

/** @param {ts.TemplateExpression} node @param {(node: ts.Expression) => unknown} value */
function filled(node, value) {
  let text = node.head.text;
  for (const span of node.templateSpans) {
    const part = value(span.expression);
    text += (part === undefined ? '…' : String(part)) + span.literal.text;
  }
  return text;
}

/** @param {ts.ObjectLiteralExpression} node @param {(node: ts.Expression) => unknown} value */
function objectValue(node, value) {
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const part of node.properties) {
    if (ts.isSpreadAssignment(part)) Object.assign(found, value(part.expression));
    else if (ts.isPropertyAssignment(part)) found[part.name.getText()] = value(part.initializer);
  }
  return found;
}

/** @param {ts.PropertyAccessExpression} node @param {(node: ts.Expression) => unknown} value */
function property(node, value) {
  const text = node.getText();
  if (text === 'Number.MAX_SAFE_INTEGER' || text === 'Number.POSITIVE_INFINITY')
    return Number.POSITIVE_INFINITY;
  const object = value(node.expression);
  return typeof object === 'object' && object !== null
    ? /** @type {Record<string, unknown>} */ (object)[node.name.text]
    : undefined;
}

/** @param {unknown[]} values */
function allKnown(values) {
  return values.includes(undefined) ? undefined : values;
}
