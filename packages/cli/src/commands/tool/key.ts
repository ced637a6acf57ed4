import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Identity } from '@troupe/transport';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { repeatable } from '../../input/repeatable-option.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

interface Flags extends JsonFlag {
  readonly out?: string;
  readonly allow: readonly string[];
}

const KEY_BYTES = 32;
const ACTIONS = ['submit', 'work', 'observe', 'feed', 'cancel', 'admin'];

export function addKey(program: Command, context: CommandContext): void {
  const key = program.command('key').description('keys by which peers prove who they are');
  subcommand(
    key,
    'new <name>',
    'make a key file',
    'troupe key new billing --allow submit=job.submit.invoice --out billing.key',
  )
    .option('-o, --out <file>', 'write it there, readable by you only; else it is printed')
    .requiredOption(
      '--allow <action=subject>',
      'what it may do: submit, work, observe, feed, cancel or admin on a subject, or all; may be given several times',
      repeatable,
    )
    .action((name: string, flags: Flags) => make(context, name, flags));
}

function make(context: CommandContext, name: string, flags: Flags): void {
  const rules: Record<string, string[]> = {};
  for (const text of flags.allow) {
    if (text === 'all') {
      for (const action of ACTIONS) rules[action] = ['>'];
      continue;
    }
    const [action = '', pattern] = text.split('=', 2);
    if (pattern === undefined || !ACTIONS.includes(action))
      throw new CliError(
        'ERR_CLI_USAGE',
        ExitCode.usage,
        `--allow ${text}: needed ${ACTIONS.join(', ')} and a subject, such as submit=job.submit.mail, or all`,
      );
    rules[action] = [...(rules[action] ?? []), pattern];
  }
  // The same checks that a leader makes.
  new Identity({ name, ...rules });
  const id = `${name.replaceAll(/[^A-Za-z0-9_.-]/g, '-').slice(0, 48)}-${randomBytes(4).toString('hex')}`;
  const file = { name, id, ...rules, key: randomBytes(KEY_BYTES).toString('hex') };
  if (flags.out === undefined) {
    printResult(context, flags, file, JSON.stringify(file, undefined, 2).split('\n'));
    return;
  }
  write(flags.out, `${JSON.stringify(file, undefined, 2)}\n`);
  printResult(context, flags, { file: flags.out, id, name }, [`key ${id} of ${name} in ${flags.out}`]);
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(
      'ERR_CLI_KEY_FILE',
      ExitCode.cannotCreate,
      `key file ${path}: cannot be made (${code}); name a file that is not there yet, in a folder that is`,
      { cause },
    );
  }
}
