// References from documents to files: links, the index of decisions, and the test behind every guarantee.
import { posix } from 'node:path';
import { lineAt } from './source-text.mjs';

/** @typedef {import('./tree.mjs').Tree} Tree */
/** @typedef {import('./tree.mjs').Finding} Finding */

/** Relative links lead to a file or folder of the repository. @param {Tree} tree @returns {Finding[]} */
export function checkLinks(tree) {
  return tree.paths(/\.md$/).flatMap((file) => {
    const prose = withoutCode(tree.text(file));
    return [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap((match) => {
      const [path = ''] = (match[1] ?? '').split('#');
      if (path === '' || /^[a-z]+:/.test(path)) return [];
      const target = posix.normalize(posix.join(posix.dirname(file), decodeURI(path))).replace(/\/$/, '');
      if (tree.has(target) || tree.hasFolder(target === '.' ? '' : target)) return [];
      return [{ file, line: lineAt(prose, match.index), text: `link to ${match[1]}, which does not exist` }];
    });
  });
}

const INDEX = 'docs/README.md';

/** Every page and guide of docs is in its index. @param {Tree} tree @returns {Finding[]} */
export function checkIndex(tree) {
  if (!tree.has(INDEX)) return [];
  const index = tree.text(INDEX);
  return tree
    .paths(/^docs\/(guides\/)?[^/]+\.md$/)
    .filter((file) => file !== INDEX && !index.includes(`](${file.slice('docs/'.length)})`))
    .map((file) => ({ file, text: `is not in ${INDEX}` }));
}

/** Folders of a package, two levels deep, and files beside them are in the map of its README. @param {Tree} tree @returns {Finding[]} */
export function checkMaps(tree) {
  return tree.paths(/^packages\/[^/]+\/README\.md$/).flatMap((file) => {
    const map = tree.text(file);
    const source = `${posix.dirname(file)}/src/`;
    const entries = tree
      .paths(/\.ts$/)
      .filter((path) => path.startsWith(source) && path !== `${source}index.ts`)
      .flatMap((path) => mapEntriesOf(path.slice(source.length)));
    return [...new Set(entries)]
      .filter((entry) => !map.includes(`\`${entry}`) && !map.includes(`/${entry}`))
      .map((entry) => ({ file, text: `has no word about ${entry} of src` }));
  });
}

/** @param {string} path */
function mapEntriesOf(path) {
  const names = path.split('/');
  return names.length === 1
    ? names
    : names
        .slice(0, -1)
        .slice(0, 2)
        .map((name) => `${name}/`);
}

/** A link with a fragment leads to a heading of that page. @param {Tree} tree @returns {Finding[]} */
export function checkFragments(tree) {
  return tree.paths(/\.md$/).flatMap((file) => {
    const prose = withoutCode(tree.text(file));
    return [...prose.matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].flatMap((match) => {
      const [, path = '', fragment = ''] = match;
      const target = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), path));
      if (!target.endsWith('.md') || !tree.has(target) || headingsOf(tree.text(target)).has(fragment))
        return [];
      return [
        {
          file,
          line: lineAt(prose, match.index),
          text: `link to ${path}#${fragment}, which has no such heading`,
        },
      ];
    });
  });
}

/** The fragments of a page, as GitHub makes them of its headings. @param {string} text */
function headingsOf(text) {
  const seen = new Map();
  return new Set(
    [...text.replace(/```[\s\S]*?```/g, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
      const plain = heading
        .trim()
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
      const fragment = plain.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
      const times = seen.get(fragment) ?? 0;
      seen.set(fragment, times + 1);
      return times === 0 ? fragment : `${fragment}-${times}`;
    }),
  );
}

/** Blank in place of code, so that lines keep their numbers. @param {string} text */
function withoutCode(text) {
  return text.replace(/```[\s\S]*?```|`[^`\n]*`/g, (block) => block.replace(/[^\n]/g, ' '));
}

const sections = ['Context', 'Decision', 'Rejected', 'Consequences', 'Revisit when'];

/** adr/README.md lists every decision once, by its number, title and status. @param {Tree} tree @returns {Finding[]} */
export function checkAdrIndex(tree) {
  const page = 'adr/README.md';
  const index = tree.text(page);
  const files = tree.paths(/^adr\/\d{4}-[^/]*\.md$/);
  const findings = files.flatMap((file) => {
    const name = posix.basename(file);
    const number = name.slice(0, 4);
    const text = tree.text(file);
    const title = new RegExp(`^# ${number} (.+)$`, 'm').exec(text)?.[1]?.trim();
    const status = /^Status: (\w+)/m.exec(text)?.[1];
    const missing = sections.filter(
      (section) => !text.includes(`**${section}.**`) && !text.includes(`## ${section}\n`),
    );
    const problems = missing.map((section) => `has no "${section}"`);
    if (title === undefined)
      return [...problems, `does not begin with "# ${number} title"`].map((text) => ({ file, text }));
    if (status === undefined) problems.push('has no line "Status: accepted"');
    const row = `| [${number}](${name}) | ${title} | ${status} |`;
    if (index.split('\n').filter((line) => line.trim().startsWith(row)).length !== 1)
      problems.push(`${page} needs the row: ${row}`);
    if (files.some((other) => other !== file && posix.basename(other).startsWith(number)))
      problems.push(`number ${number} is taken twice`);
    return problems.map((text) => ({ file, text }));
  });
  const stale = [...index.matchAll(/\]\((\d{4}-[^)]*)\)/g)].filter((match) => !tree.has(`adr/${match[1]}`));
  return [
    ...findings,
    ...stale.map((match) => ({ file: page, text: `lists ${match[1]}, which does not exist` })),
  ];
}

/**
 * A guarantee is an item `12. Sentence. (test: `packages/…/x.test.ts` › "title")`; numbers run through the whole page.
 * A type test (.test-d.ts) needs no title.
 * @param {Tree} tree @returns {Finding[]}
 */
export function checkSemantics(tree) {
  return ['docs/semantics.md', 'docs/guarantees.md'].flatMap((file) =>
    tree.has(file) ? checkGuarantees(tree, file) : [],
  );
}

/** @param {Tree} tree @param {string} file @returns {Finding[]} */
function checkGuarantees(tree, file) {
  const text = tree.text(file);
  const items = [...text.matchAll(/^(\d+)\. ([\s\S]*?)(?=\n\s*\n|\n\d+\. |\n#|\s*$(?![\s\S]))/gm)];
  const wrong = items.flatMap((item, at) => {
    const line = lineAt(text, item.index);
    const report = (/** @type {string} */ problem) => ({
      file,
      line,
      text: `guarantee ${item[1]} ${problem}`,
    });
    const tests = [
      ...(item[2] ?? '').replace(/\s+/g, ' ').matchAll(/`([^`]+\.test(?:-d)?\.ts)`(?: › "([^"]+)")?/g),
    ];
    const findings = tests.flatMap(([, path = '', title]) => {
      if (!tree.has(path)) return [report(`names ${path}, which does not exist`)];
      if (title === undefined)
        return path.endsWith('-d.ts') ? [] : [report(`names no test of ${path}: › "title"`)];
      return titlesOf(tree, path).includes(title)
        ? []
        : [report(`names "${title}", which ${path} does not have`)];
    });
    if (Number(item[1]) !== at + 1) findings.push(report(`should have number ${at + 1}`));
    if (tests.length === 0) findings.push(report('names no test'));
    return findings;
  });
  return [...wrong, ...checkSentenceColumns(file, text, items.length)];
}

/**
 * The rows of a table whose last column is `sentences` name the numbers of guarantees in it.
 * @param {string} file @param {string} text @param {number} last the highest number @returns {Finding[]}
 */
function checkSentenceColumns(file, text, last) {
  const tables = [...text.matchAll(/^\|.*\| sentences \|\n\|[-|: ]*\n((?:\|.*\n)*)/gm)];
  return tables.flatMap((table) => {
    const first = lineAt(text, table.index) + 2;
    return (table[1] ?? '')
      .split('\n')
      .slice(0, -1)
      .flatMap((row, at) => {
        const cell = row.split('|').at(-2)?.trim() ?? '';
        const isValid =
          /^\d+(, \d+)*$/.test(cell) && cell.split(', ').every((no) => Number(no) >= 1 && Number(no) <= last);
        return isValid
          ? []
          : [{ file, line: first + at, text: `the row names no guarantee of this page: '${cell}'` }];
      });
  });
}

/** @param {Tree} tree @param {string} path */
function titlesOf(tree, path) {
  const strings = tree.source(path).withStrings.matchAll(/\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g);
  return [...strings].map((match) => (match[2] ?? '').replace(/\\(.)/g, '$1'));
}
