// docs/reference: a function from the sources to its pages, and to the places where the sources lack a comment.
import ts from 'typescript-api';
import { docOf } from './doc-comment.mjs';
import { errorsByPage } from './error-sources.mjs';
import { notShown, pages } from './pages.mjs';
import { partText, tableText, titleOf } from './part-text.mjs';
import { SourceIndex } from './source-index.mjs';

/** @typedef {import('../tidy/tree.mjs').Tree} Tree */
/** @typedef {import('../tidy/tree.mjs').Finding} Finding */
/** @typedef {import('./pages.mjs').Page} Page */

const NOTE =
  'This page is made from the sources by `npm run reference`. Change a comment there, not this page.';
const OPTION_TYPE = /(Options|Limits|Times|Renewal|Hooks)$/;

/** @param {Tree} tree @param {readonly Page[]} [wanted] @returns {{ texts: Map<string, string>, findings: Finding[] }} */
export function generateReference(tree, wanted = pages) {
  const index = new SourceIndex(tree);
  /** @type {Finding[]} */
  const findings = [];
  const errors = errorsByPage(tree, wanted);
  const texts = new Map(
    wanted.map((page) => [
      pathOf(page),
      pageText(index, page, wanted, errors.get(page.name) ?? [], findings),
    ]),
  );
  texts.set('docs/reference/README.md', indexText(wanted));
  texts.set('docs/reference/errors.md', errorsText(wanted, errors, tree, findings));
  findings.push(...missingTypes(index, wanted));
  return { texts, findings: unique(findings) };
}

/** @param {Page} page */
function pathOf({ name }) {
  return `docs/reference/${name}.md`;
}

/** @param {SourceIndex} index @param {Page} page @param {readonly Page[]} all @param {readonly string[]} errors @param {Finding[]} findings */
function pageText(index, page, all, errors, findings) {
  const context = {
    index,
    find: (/** @type {string} */ name) => findIn(index, page, name),
    links: linksFrom(page, all),
    report: (/** @type {Finding} */ finding) => findings.push(finding),
  };
  const guides = page.guides
    .map((guide) => `[${guide.replaceAll('-', ' ')}](../guides/${guide}.md)`)
    .join(', ');
  const contents = page.parts.map((part) => `[${titleOf(part)}](#${slug(titleOf(part))})`).join(' · ');
  const parts = page.parts.map((part) => partText(part, context));
  return [
    `# ${page.title}\n`,
    `${NOTE}${guides === '' ? '' : ` Guides: ${guides}.`} [All pages](README.md).\n`,
    `${contents}${errors.length > 0 ? ' · [Errors](#errors)' : ''}\n`,
    ...parts,
    ...(errors.length > 0 ? [errorsPart(errors)] : []),
  ].join('\n');
}

/** @param {readonly string[]} codes */
function errorsPart(codes) {
  return `## Errors\n\n${codes.map((code) => `[${code}](../errors.md#${slug(code)})`).join(' · ')}\n`;
}

/** @param {SourceIndex} index @param {Page} page @param {string} name */
function findIn(index, page, name) {
  for (const entry of page.entries) {
    const found = index.resolve(entry, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param {Page} page @param {readonly Page[]} all @returns {Map<string, string>} */
function linksFrom(page, all) {
  /** @type {Map<string, string>} */
  const links = new Map();
  for (const other of [...all.filter((one) => one !== page), page])
    for (const part of other.parts)
      if (part.kind !== 'functions')
        links.set(part.type, `${other === page ? '' : `${other.name}.md`}#${slug(titleOf(part))}`);
  return links;
}

/** As GitHub makes the anchor of a heading. @param {string} title */
function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** @param {readonly Page[]} all */
function indexText(all) {
  const rows = all.map(({ name, title, about }) => [`[${title}](${name}.md)`, about]);
  rows.push(['[Errors](errors.md)', 'every code with the pages whose calls can raise it']);
  return [
    '# Reference\n',
    'Every option with its type, unit, default and bounds; every member of `ctx`, `system`, refs, clients, workers and leaders; every hook and every event.',
    'A time is in milliseconds where the name ends in `Ms`, a size in bytes where it has `Bytes` in it. An unknown option is refused with [ERR_OPTION](../errors.md#err_option) or [ERR_JOB_DEFINITION](../errors.md#err_job_definition).\n',
    tableText(['page', 'content'], rows),
    NOTE,
    '',
  ].join('\n');
}

/** @param {readonly Page[]} all @param {ReadonlyMap<string, readonly string[]>} errors @param {Tree} tree @param {Finding[]} findings */
function errorsText(all, errors, tree, findings) {
  const codes = [...tree.text('docs/errors.md').matchAll(/^### (ERR_\w+)/gm)].map((match) => match[1] ?? '');
  const rows = codes.map((code) => {
    const at = all
      .filter(({ name }) => errors.get(name)?.includes(code))
      .map(({ name, title }) => `[${title}](${name}.md)`);
    if (isOfCommand(tree, code)) at.push('[Command line](../cli.md)');
    if (at.length === 0) findings.push({ file: 'docs/errors.md', text: `${code}: no source raises it` });
    return [`[${code}](../errors.md#${slug(code)})`, at.join(', ')];
  });
  return `# Errors by page\n\nThe meaning and the remedy of each code are in [errors.md](../errors.md). ${NOTE}\n\n${tableText(['code', 'raised by'], rows)}`;
}

/** @param {Tree} tree @param {string} code */
function isOfCommand(tree, code) {
  return tree.paths(/^packages\/cli\/src\/.*\.ts$/).some((file) => tree.text(file).includes(`'${code}'`));
}

/**
 * Every type of options and events, every function and everything with methods that a package exports has its part.
 * @param {SourceIndex} index @param {readonly Page[]} all @returns {Finding[]}
 */
function missingTypes(index, all) {
  const shown = new Set(
    all.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'functions' ? part.names : [part.type])),
    ),
  );
  const entries = new Set(all.flatMap(({ entries }) => entries));
  return [...entries].flatMap((entry) => {
    const hidden = notShown[entry] ?? [];
    return [...index.exportsOf(entry)]
      .filter(
        ([name, { node }]) => isOptionsOrEvents(name, node) || (hidden !== 'all' && isCalled(name, node)),
      )
      .filter(([name]) => !shown.has(name) && !hidden.includes(name))
      .map(([name]) => ({ file: entry, text: `${name} has no part in scripts/reference/pages.mjs` }));
  });
}

/** Interfaces of options and hooks, and unions of events. @param {string} name @param {ts.Node} node */
function isOptionsOrEvents(name, node) {
  if (ts.isTypeAliasDeclaration(node)) return name.endsWith('Event') && ts.isUnionTypeNode(node.type);
  const isResult = docOf(node).meaning.startsWith('Options to spread');
  return ts.isInterfaceDeclaration(node) && OPTION_TYPE.test(name) && !isResult;
}

/** Functions, and classes and interfaces with methods; errors are on their own page. @param {string} name @param {ts.Node} node */
function isCalled(name, node) {
  if (ts.isFunctionDeclaration(node)) return true;
  if (!(ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) || name.endsWith('Error'))
    return false;
  return node.members.some((member) => ts.isMethodSignature(member) || ts.isMethodDeclaration(member));
}

/** @param {readonly Finding[]} findings */
function unique(findings) {
  return [
    ...new Map(
      findings.map((finding) => [`${finding.file}:${finding.line} ${finding.text}`, finding]),
    ).values(),
  ];
}
