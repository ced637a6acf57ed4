// The parts of docs/cli.md that the commands make: their list, their options, the exit codes. Needs a build.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../workspace.mjs';

export const COMMAND_PAGE = 'docs/cli.md';

/**
 * As `packages/cli/src/command-list.ts` makes them.
 * @typedef {{ flags: string, long: string, description: string, choices: string[], defaultText: string, isShared: boolean }} ListedOption
 * @typedef {{ path: string, usage: string, summary: string, description: string, example?: string, options: ListedOption[] }} ListedCommand
 */

const dist = join(root, 'packages/cli/dist');

/** Undefined before the first build. */
const built = existsSync(join(dist, 'command-list.js')) ? await load() : undefined;

async function load() {
  const at = (/** @type {string} */ file) => pathToFileURL(join(dist, file)).href;
  const { commandList, sharedOptions } = await import(at('command-list.js'));
  const { programOf } = await import(at('program.js'));
  const { exitMeanings } = await import(at('exit-code.js'));
  const terminal = { out() {}, err() {}, isInteractive: false, draw() {} };
  return {
    commands: /** @type {ListedCommand[]} */ (commandList(programOf({ terminal, exitCode: 0 }, []))),
    shared: /** @type {ListedOption[]} */ (sharedOptions()),
    exits: /** @type {{ code: string, meaning: string, example: string }[]} */ (exitMeanings()),
  };
}

/**
 * The page with its made parts replaced; undefined before the first build.
 * @param {string} page @returns {string | undefined}
 */
export function commandPage(page) {
  if (built === undefined) return undefined;
  const { commands, shared, exits } = built;
  const all = commands.filter(({ example }) => example !== undefined);
  const list = [
    ...table(
      ['command', 'does'],
      all.map((one) => [`[\`troupe ${one.usage}\`](#troupe-${one.path.replaceAll(' ', '-')})`, one.summary]),
    ),
    ...all.flatMap(sectionOf),
    '### Options of the connection',
    '',
    ...optionTable(shared),
  ];
  const codes = table(
    ['code', 'meaning', 'for example'],
    exits.map(({ code, meaning, example }) => [code, meaning, example]),
  );
  return replaced(replaced(page, 'commands', list), 'exit codes', codes);
}

/** @param {ListedCommand} command @returns {string[]} */
function sectionOf({ path, usage, description, example, options }) {
  const own = options.filter(({ isShared, long }) => !isShared && long !== '--json');
  const isConnected = options.some(({ isShared }) => isShared);
  return [
    `### troupe ${path}`,
    '',
    `${description[0]?.toUpperCase()}${description.slice(1).replace(/\.$/, '')}.${isConnected ? ' It takes the [options of the connection](#options-of-the-connection) too.' : ''}`,
    '',
    '```text',
    `troupe ${usage}`,
    `$ ${example}`,
    '```',
    '',
    ...(own.length === 0 ? [] : optionTable(own)),
  ];
}

/** @param {readonly ListedOption[]} options */
function optionTable(options) {
  return table(
    ['option', 'meaning', 'default'],
    options.map(({ flags, description, choices, defaultText }) => [
      `\`${flags}\``,
      choices.length === 0 ? description : `${description}: ${choices.map((one) => `\`${one}\``).join(', ')}`,
      defaultText === '' ? '' : `\`${defaultText}\``,
    ]),
  );
}

/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line), ''];
}

/** @param {string} page @param {string} part @param {string[]} lines */
function replaced(page, part, lines) {
  const [first, last] = [`<!-- ${part}: made by npm run reference -->`, `<!-- end of ${part} -->`];
  const [from, to] = [page.indexOf(first), page.indexOf(last)];
  if (from < 0 || to < from) throw new Error(`${COMMAND_PAGE}: the marks around ${part} are missing`);
  return `${page.slice(0, from + first.length)}\n\n${lines.join('\n')}\n${page.slice(to)}`;
}
