// The members of a type: its own, and those of the types that it extends.
import ts from 'typescript-api';
import { docOf } from './doc-comment.mjs';
import { signatureText, typeText } from './type-text.mjs';

/** @typedef {import('./source-index.mjs').SourceIndex} SourceIndex */
/** @typedef {import('./source-index.mjs').Declared} Declared */
/**
 * @typedef {{ name: string, type: string, signature: string, isOptional: boolean, isCallable: boolean,
 *   doc: import('./doc-comment.mjs').Doc, file: string, line: number }} Member
 */

/** @param {SourceIndex} index @param {Declared} declared @param {{ omit?: readonly string[], documented?: ReadonlySet<string> }} [options] types that have a place of their own are left to it @returns {{ members: Member[], bases: string[] }} */
export function membersOf(index, { node, file }, { omit = [], documented = new Set() } = {}) {
  /** @type {Member[]} */
  const members = [];
  /** @type {string[]} */
  const bases = [];
  const clauses = ts.isInterfaceDeclaration(node) ? (node.heritageClauses ?? []) : [];
  for (const { name, without } of clauses.flatMap(({ types }) => types.map(baseOf))) {
    const base = index.resolve(file, name);
    if (base === undefined) continue;
    if (documented.has(name)) {
      bases.push(name);
      continue;
    }
    const inherited = membersOf(index, base, { omit: [...omit, ...without], documented });
    members.push(...inherited.members);
    bases.push(...inherited.bases);
  }
  const own = elementsOf(node)
    .flatMap((element) => memberOf(element, file))
    .filter(({ name }) => !omit.includes(name));
  const names = new Set(own.map(({ name }) => name));
  // Overloads have a row each; what is declared again replaces what is inherited.
  return { members: [...members.filter(({ name }) => !names.has(name)), ...own], bases };
}

/** @param {ts.Node} node @returns {readonly (ts.TypeElement | ts.ClassElement)[]} */
function elementsOf(node) {
  if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) return node.members;
  if (ts.isTypeAliasDeclaration(node) && ts.isTypeLiteralNode(node.type)) return node.type.members;
  return [];
}

/** `Defaulted<T>`, `Partial<T>` and `Omit<T, 'a'>` have the members of T. @param {ts.ExpressionWithTypeArguments} type */
function baseOf(type) {
  const name = type.expression.getText();
  const [first, second] = type.typeArguments ?? [];
  if (!['Defaulted', 'Partial', 'Omit'].includes(name) || first === undefined) return { name, without: [] };
  const without = [...(second?.getText() ?? '').matchAll(/'(\w+)'/g)].map((match) => match[1] ?? '');
  return { name: first.getText().replace(/<.*$/s, ''), without };
}

/** @param {ts.TypeElement | ts.ClassElement} element @param {string} file @returns {Member[]} */
function memberOf(element, file) {
  if (element.name === undefined || ts.isComputedPropertyName(element.name)) return [];
  const name = element.name.getText();
  if (name.startsWith("'~") || isHidden(element)) return [];
  const { line } = element.getSourceFile().getLineAndCharacterOfPosition(element.getStart());
  const at = { file, line: line + 1, doc: docOf(element) };
  if (ts.isMethodSignature(element) || ts.isMethodDeclaration(element)) {
    const signature = `${name}${element.questionToken ? '?' : ''}${signatureText(element)}`;
    return [
      { name, type: '', signature, isOptional: element.questionToken !== undefined, isCallable: true, ...at },
    ];
  }
  if (ts.isGetAccessorDeclaration(element)) {
    const type = typeText(element.type);
    return [{ name, type, signature: `${name}: ${type}`, isOptional: false, isCallable: false, ...at }];
  }
  if (!ts.isPropertySignature(element) && !ts.isPropertyDeclaration(element)) return [];
  const isOptional = element.questionToken !== undefined;
  const literal = nestedLiteral(element.type);
  if (literal !== undefined && isOptional)
    return literal.members.flatMap((inner) =>
      memberOf(inner, file).map((member) => ({ ...member, name: `${name}.${member.name}` })),
    );
  const type = typeText(element.type, isOptional);
  const isCallable = type.includes('=>') || type.startsWith('(');
  const signature = hookSignature(name, type, isOptional) ?? `${name}${isOptional ? '?' : ''}: ${type}`;
  return [{ name, type, signature, isOptional, isCallable, ...at }];
}

/** An object of options inside the options. @param {ts.TypeNode | undefined} type @returns {ts.TypeLiteralNode | undefined} */
function nestedLiteral(type) {
  if (type === undefined) return undefined;
  if (ts.isTypeLiteralNode(type)) return type;
  return ts.isUnionTypeNode(type) ? type.types.find((one) => ts.isTypeLiteralNode(one)) : undefined;
}

/** A property that is a function reads like a method. @param {string} name @param {string} type @param {boolean} isOptional */
function hookSignature(name, type, isOptional) {
  const match = /^(\(.*\)) => ([^()]+|unknown)$/s.exec(type);
  return match === null ? undefined : `${name}${isOptional ? '?' : ''}${match[1]}: ${match[2]}`;
}

/** @param {ts.Node} element */
function isHidden(element) {
  const modifiers = ts.canHaveModifiers(element) ? (ts.getModifiers(element) ?? []) : [];
  return modifiers.some(
    ({ kind }) =>
      kind === ts.SyntaxKind.PrivateKeyword ||
      kind === ts.SyntaxKind.ProtectedKeyword ||
      kind === ts.SyntaxKind.StaticKeyword,
  );
}
