// The declarations of the sources by name. Syntax only: a parse of all packages takes half a second, a type check ten.
import { posix } from 'node:path';
import ts from 'typescript-api';

/** @typedef {import('../tidy/tree.mjs').Tree} Tree */
/** @typedef {ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration} TypeDeclaration */
/** @typedef {{ node: ts.Node, file: string }} Declared */

export class SourceIndex {
  /** @type {Map<string, ts.SourceFile>} */
  #files = new Map();
  /** By file, then by name. @type {Map<string, Map<string, ts.Node>>} */
  #declarations = new Map();
  #tree;

  /** @param {Tree} tree */
  constructor(tree) {
    this.#tree = tree;
  }

  /** @param {string} file */
  sourceFile(file) {
    let parsed = this.#files.get(file);
    if (parsed === undefined) {
      parsed = ts.createSourceFile(file, this.#tree.text(file), ts.ScriptTarget.Latest, true);
      this.#files.set(file, parsed);
    }
    return parsed;
  }

  /** The declaration that a name in this file means, here or where it is imported from. @param {string} file @param {string} name @returns {Declared | undefined} */
  resolve(file, name) {
    const own = this.#declarationsOf(file).get(name);
    if (own === undefined) return undefined;
    if (!ts.isImportSpecifier(own) && !ts.isExportSpecifier(own)) return { node: own, file };
    const statement = own.parent.parent;
    const from = ts.isNamedImports(own.parent) ? own.parent.parent.parent : statement;
    const specifier = /** @type {ts.ImportDeclaration | ts.ExportDeclaration} */ (from).moduleSpecifier;
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return undefined;
    const target = this.fileOf(file, specifier.text);
    return target === undefined ? undefined : this.resolve(target, (own.propertyName ?? own.name).text);
  }

  /** The source behind a module specifier. @param {string} file @param {string} specifier @returns {string | undefined} */
  fileOf(file, specifier) {
    const own = /^@troupe\/([a-z]+)(?:\/(.+))?$/.exec(specifier);
    const path = own
      ? `packages/${own[1]}/src/${own[2] ?? 'index'}`
      : posix.join(posix.dirname(file), specifier).replace(/\.js$/, '');
    if (!specifier.startsWith('.') && own === null) return undefined;
    return [`${path}.ts`, `${path}/index.ts`].find((candidate) => this.#tree.has(candidate));
  }

  /** Sources below a folder whose text matches. @param {string} folder @param {RegExp} pattern @returns {string[]} */
  filesWith(folder, pattern) {
    const files = this.#tree.paths(/\.ts$/).filter((file) => file.startsWith(`${folder}/`));
    return files.filter((file) => pattern.test(this.#tree.text(file)));
  }

  /** Names that a module exports, with their declarations. @param {string} file @returns {Map<string, Declared>} */
  exportsOf(file) {
    /** @type {Map<string, Declared>} */
    const found = new Map();
    for (const [name, node] of this.#declarationsOf(file)) {
      if (!ts.isExportSpecifier(node)) continue;
      const declared = this.resolve(file, name);
      if (declared !== undefined) found.set(name, declared);
    }
    return found;
  }

  /** @param {string} file */
  #declarationsOf(file) {
    let names = this.#declarations.get(file);
    if (names === undefined) {
      names = new Map();
      for (const statement of this.sourceFile(file).statements)
        for (const [name, node] of namesOf(statement)) names.set(name, node);
      this.#declarations.set(file, names);
    }
    return names;
  }
}

/** @param {ts.Statement} statement @returns {Iterable<[string, ts.Node]>} */
function* namesOf(statement) {
  if (ts.isImportDeclaration(statement)) {
    const bindings = statement.importClause?.namedBindings;
    if (bindings !== undefined && ts.isNamedImports(bindings))
      for (const element of bindings.elements) yield [element.name.text, element];
  } else if (ts.isExportDeclaration(statement)) {
    if (statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause))
      for (const element of statement.exportClause.elements) yield [element.name.text, element];
  } else if (ts.isVariableStatement(statement)) {
    for (const declaration of statement.declarationList.declarations)
      if (ts.isIdentifier(declaration.name)) yield [declaration.name.text, declaration];
  } else if (
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement)
  ) {
    if (statement.name !== undefined) yield [statement.name.text, statement];
  }
}
