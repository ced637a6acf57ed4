// Types as a reader wants them: on one line, without `readonly` and type parameters.
import ts from 'typescript-api';

/** @param {ts.TypeNode | undefined} node @param {boolean} [isOptional] then `undefined` says nothing @returns {string} */
export function typeText(node, isOptional = false) {
  if (node === undefined) return 'unknown';
  const union = ts.isUnionTypeNode(node) ? node.types : [node];
  const texts = union.map((one) => (isHook(one) ? hookText(one) : oneLine(one.getText())));
  const parts = texts.filter((text) => !(isOptional && text === 'undefined'));
  const text = parts.join(' | ');
  return parts.length === 1 ? text.replace(/^\((\(.*\) => .*)\)$/s, '$1') : text;
}

/** Parameters and result. @param {ts.SignatureDeclarationBase} node @returns {string} */
export function signatureText(node) {
  const parameters = node.parameters.map(parameterText).join(', ');
  const result = node.type === undefined ? '' : `: ${oneLine(node.type.getText())}`;
  return `(${parameters})${result}`;
}

/** @param {ts.ParameterDeclaration} node */
function parameterText(node) {
  const type = node.type === undefined ? initialType(node) : oneLine(node.type.getText());
  const spawn = /^SpawnParameters<D, (\w+)>$/.exec(type);
  if (spawn !== null) return `options?: ${spawn[1]} & { args }`;
  const isOptional = node.questionToken !== undefined || node.initializer !== undefined;
  return `${node.dotDotDotToken ? '...' : ''}${node.name.getText()}${isOptional ? '?' : ''}: ${type}`;
}

/** @param {ts.ParameterDeclaration} node */
function initialType({ initializer }) {
  return initializer !== undefined && ts.isStringLiteral(initializer) ? 'string' : 'unknown';
}

/** @param {ts.TypeNode} node @returns {node is ts.TypeReferenceNode} */
function isHook(node) {
  return ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Hook';
}

/** `Hook<S, Phase, Self, [error: Error]>` is `(ctx, error: Error) => unknown`. @param {ts.TypeReferenceNode} node */
function hookText(node) {
  const rest = node.typeArguments?.[3];
  const more = rest === undefined ? '' : `, ${oneLine(rest.getText()).replace(/^\[|\]$/g, '')}`;
  return `(ctx${more}) => unknown`;
}

/** @param {string} text */
export function oneLine(text) {
  return text
    .replace(/\/\*\*?[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/\breadonly /g, '')
    .replace(/(\?: [^;,()]*) \| undefined\b/g, '$1')
    .replace(/^\| /, '')
    .replace(/;? \}/g, ' }')
    .trim();
}
