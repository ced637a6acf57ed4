// One part of a page: a table of options, members, events or functions.
import ts from 'typescript-api';
import { defaultProblem } from './code-defaults.mjs';
import { constantValue } from './constant-value.mjs';
import { docBefore, docOf } from './doc-comment.mjs';
import { membersOf } from './member-list.mjs';
import { boundsOf } from './option-bounds.mjs';
import { oneLine, signatureText, typeText } from './type-text.mjs';
import { unitOf, valueText } from './unit-text.mjs';

/** @typedef {import('./pages.mjs').Part} Part */
/** @typedef {import('./source-index.mjs').Declared} Declared */
/** @typedef {import('./source-index.mjs').SourceIndex} SourceIndex */
/** @typedef {import('./member-list.mjs').Member} Member */
/** @typedef {import('../tidy/tree.mjs').Finding} Finding */
/**
 * @typedef {{ index: SourceIndex, find: (name: string) => Declared | undefined,
 *   links: ReadonlyMap<string, string>, report: (finding: Finding) => void }} PartContext
 * `links`: the address of every type that has a part, seen from the page
 */

/** @param {Part} part @param {PartContext} context @returns {string} */
export function partText(part, context) {
  const title = `## ${titleOf(part)}\n`;
  if (part.kind === 'functions') return `${title}\n${functionsTable(part, context)}`;
  const declared = context.find(part.type);
  if (declared === undefined) {
    context.report({ file: 'scripts/reference/pages.mjs', text: `no entry exports ${part.type}` });
    return title;
  }
  const about = [docOf(declared.node).meaning, part.intro ?? ''].filter((text) => text !== '').join(' ');
  const intro = about === '' || part.kind === 'choices' ? (part.intro ?? '') : about;
  const body = bodyOf(part, declared, context);
  return [title, intro === '' ? [] : `${listed(intro)}\n`, body].flat().join('\n');
}

/** @param {Part} part */
export function titleOf(part) {
  return part.title ?? (part.kind === 'functions' ? 'Functions' : part.type);
}

/** @param {Exclude<Part, import('./pages.mjs').FunctionsPart>} part @param {Declared} declared @param {PartContext} context */
function bodyOf(part, declared, context) {
  switch (part.kind) {
    case 'options':
      return optionsTable(part, declared, context);
    case 'members':
      return membersTable(part, declared, context);
    case 'events':
      return eventsTable(declared, context);
    case 'choices':
      return choices(part, declared, context);
    default:
      return '';
  }
}

/** @param {import('./pages.mjs').OptionsPart} part @param {Declared} declared @param {PartContext} context */
function optionsTable(part, declared, context) {
  const documented = new Set([...context.links.keys()].filter((name) => name !== part.type));
  const { members, bases } = membersOf(context.index, declared, { omit: part.omit ?? [], documented });
  const columns = defaultColumns(part, declared, context);
  const heads = Object.keys(columns);
  const rows = members.map((member) => {
    if (member.doc.meaning === '') reportNoComment(part.type, member, context);
    const defaults = heads.map((head) => defaultText(part, member, columns[head], context));
    const files = [member.file, declared.file, ...(part.rules ?? [])];
    const bounds = boundsOf(context.index, [...new Set(files)], member.name);
    if (bounds === '' && member.type === 'number')
      reportMissing(part.type, member, 'no rule bounds it', context);
    const problem = defaultProblem(context.index, member, { type: part.type, files });
    if (problem !== undefined) reportMissing(part.type, member, problem, context);
    return [code(member.name), optionType(member, context), ...defaults, bounds, member.doc.meaning];
  });
  const table = tableText(['option', 'type', ...heads, 'bounds', 'meaning'], rows);
  return also(bases, context) + table;
}

/** @param {import('./pages.mjs').OptionsPart} part @param {Declared} declared @param {PartContext} context @returns {Record<string, Readonly<Record<string, unknown>>>} */
function defaultColumns(part, declared, context) {
  const { defaults } = part;
  if (defaults === undefined || defaults === 'doc') return { default: {} };
  const named = typeof defaults === 'string' ? { default: defaults } : defaults;
  return Object.fromEntries(
    Object.entries(named).map(([head, name]) => {
      const constant = context.index.resolve(declared.file, name);
      const { initializer } = /** @type {ts.VariableDeclaration} */ (constant?.node ?? {});
      const value = initializer && constantValue(context.index, constant?.file ?? '', initializer);
      if (value === undefined)
        context.report({ file: declared.file, text: `no constant ${name} with defaults` });
      return [head, /** @type {Readonly<Record<string, unknown>>} */ (value ?? {})];
    }),
  );
}

/** @param {import('./pages.mjs').OptionsPart} part @param {Member} member @param {Readonly<Record<string, unknown>> | undefined} values @param {PartContext} context */
function defaultText(part, member, values, context) {
  const unit = unitOf(member.name);
  if (values !== undefined && member.name in values) return valueText(values[member.name], unit);
  const stated = member.doc.default;
  if (stated !== undefined) {
    const number = /^[\d,.]+$/.test(stated) ? Number(stated.replaceAll(',', '')) : Number.NaN;
    return Number.isNaN(number) ? stated : valueText(number, unit);
  }
  if (!member.isOptional) return '**required**';
  if (/^(number|boolean|string|'.*)$/.test(member.type)) {
    const text = `${part.type}.${member.name} has no default: its comment needs a sentence "Default …."`;
    context.report({ file: member.file, line: member.line, text });
  }
  return /^(Partial|Defaulted)</.test(member.type) ? 'those of the type' : 'none';
}

/** @param {Member} member @param {PartContext} context */
function optionType(member, { links }) {
  const unit = unitOf(member.name);
  const inner =
    /^(?:Partial|Defaulted|Omit)<(\w+)/.exec(member.type)?.[1] ?? member.type.replace(/(<.*>)?(\[\])?$/s, '');
  const link = links.get(inner);
  const text = link === undefined ? code(member.type) : `[${code(member.type)}](${link})`;
  return unit !== undefined && member.type === 'number' ? `${text}, ${unit}` : text;
}

/** @param {import('./pages.mjs').MembersPart} part @param {Declared} declared @param {PartContext} context */
function membersTable(part, declared, context) {
  const documented = new Set([...context.links.keys()].filter((name) => name !== part.type));
  const { members, bases } = membersOf(context.index, declared, { omit: part.omit ?? [], documented });
  const rows = members.map((member) => {
    const { meaning, default: stated } = member.doc;
    if (meaning === '') reportNoComment(part.type, member, context);
    const text = stated === undefined ? meaning : `${meaning} Default ${stated}.`;
    return [code(member.signature), text.trim()];
  });
  return also(bases, context) + tableText(['member', 'meaning'], rows);
}

/** @param {readonly string[]} bases @param {PartContext} context */
function also(bases, { links }) {
  if (bases.length === 0) return '';
  return `With everything of ${bases.map((name) => `[${name}](${links.get(name)})`).join(' and ')}.\n\n`;
}

/** @param {Declared} declared @param {PartContext} context */
function eventsTable({ node, file }, context) {
  if (!ts.isTypeAliasDeclaration(node)) return '';
  const types = ts.isUnionTypeNode(node.type) ? node.type.types : [node.type];
  const source = node.getSourceFile();
  const rows = types
    .flatMap((type) => (ts.isTypeLiteralNode(type) ? [type] : []))
    .map((type) => {
      const [first, ...fields] = type.members.filter(ts.isPropertySignature);
      const kind = typeText(first?.type);
      const inside = first === undefined ? '' : docOf(first).meaning;
      const meaning = docBefore(source.text, type.getStart()).meaning || inside;
      if (meaning === '') {
        const { line } = source.getLineAndCharacterOfPosition(type.getStart());
        context.report({ file, line: line + 1, text: `the event ${kind} has no comment` });
      }
      const notes = fields
        .map((field) => [field.name.getText(), docOf(field).meaning])
        .filter(([, text]) => text !== '');
      const all = [meaning, ...notes.map(([name, text]) => `\`${name}\`: ${text}`)].filter(
        (text) => text !== '',
      );
      return [
        code(kind),
        fields.map((field) => code(oneLine(field.getText()).replace(/;$/, ''))).join('<br>'),
        all.join('<br>'),
      ];
    });
  return tableText(['kind', 'fields', 'meaning'], rows);
}

/** @param {import('./pages.mjs').ChoicesPart} part @param {Declared} declared @param {PartContext} context */
function choices({ type }, { node, file }, context) {
  const lines = docOf(node).meaning.split('<br>');
  const matches = lines.map((line) => /^([a-z][\w-]*|\{[^}]+\}) {2,}(.+)$/.exec(line.trim()));
  const rows = matches
    .filter((match) => match !== null)
    .map((match) => [code(match[1] ?? ''), match[2] ?? '']);
  const rest = lines.filter((_, at) => matches[at] === null).join(' ');
  const all = rows.length === 0 ? commentedChoices(node) : rows;
  if (all.length === 0) context.report({ file, text: `the values of ${type} have no comment` });
  const table = tableText(['value', 'meaning'], all);
  return rest === '' ? table : `${rest}\n\n${table}`;
}

/** `| 'stopped' // sent to an actor that has stopped` @param {ts.Node} node */
function commentedChoices(node) {
  const { text } = node.getSourceFile();
  const end = text.indexOf('\n', node.getEnd());
  return [...text.slice(node.getStart(), end).matchAll(/\| '([\w-]+)';? \/\/ (.+)/g)].map((match) => [
    code(match[1] ?? ''),
    match[2] ?? '',
  ]);
}

/** @param {import('./pages.mjs').FunctionsPart} part @param {PartContext} context */
function functionsTable(part, context) {
  const rows = part.names.map((name) => {
    const declared = context.find(name);
    if (declared === undefined) {
      context.report({ file: 'scripts/reference/pages.mjs', text: `no entry exports ${name}` });
      return [code(name), ''];
    }
    const { node } = declared;
    const holder = ts.isVariableDeclaration(node) ? node.parent.parent : node;
    const { meaning } = docOf(holder);
    if (meaning === '') {
      const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
      context.report({ file: declared.file, line: line + 1, text: `${name} has no comment` });
    }
    const signature = ts.isFunctionDeclaration(node) ? signatureText(node) : '';
    return [code(`${name}${signature}`), meaning];
  });
  return tableText(['function', 'meaning'], rows);
}

/** @param {string} type @param {Member} member @param {PartContext} context */
function reportNoComment(type, { file, line, name }, { report }) {
  report({ file, line, text: `${type}.${name} has no comment` });
}

/** @param {string} type @param {Member} member @param {string} problem @param {PartContext} context */
function reportMissing(type, { file, line, name }, problem, { report }) {
  report({ file, line, text: `${type}.${name}: ${problem}` });
}

/** @param {string} text */
function listed(text) {
  return text.replaceAll('<br>', '\n');
}

/** @param {string} text */
function code(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** A column that no row fills is left out. @param {readonly string[]} heads @param {readonly (readonly string[])[]} rows */
export function tableText(heads, rows) {
  const kept = heads.map((_, at) => at === 0 || rows.some((row) => row[at] !== ''));
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.filter((_, at) => kept[at]).join(' | ')} |`;
  return `${[line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}
