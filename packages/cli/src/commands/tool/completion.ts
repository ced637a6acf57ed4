import { Argument, type Command } from 'commander';
import { commandList, type ListedCommand } from '../../command-list.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

type Shell = 'bash' | 'zsh' | 'fish';

export function addCompletion(program: Command, context: CommandContext): void {
  subcommand(
    program,
    'completion',
    'print a completion script for a shell',
    'source <(troupe completion bash)',
    'It completes commands, options and the values of options that have a fixed set.',
  )
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .action((shell: Shell, flags: JsonFlag) => {
      const script = shell === 'fish' ? fish(program) : bash(program, shell);
      printResult(context, flags, { shell, script }, script.split('\n'));
    });
}

/** The words that may follow a command. */
function followers({ subcommands, options }: ListedCommand): string[] {
  return [...subcommands, ...options.map(({ long }) => long), '--help'];
}

/** The path grows by a word only below a family: further words are arguments. */
function bash(program: Command, shell: Shell): string {
  const commands = commandList(program);
  const families = commands.filter((one) => one.subcommands.length > 0).map(({ path }) => `'${path}'`);
  const cases = commands.map((one) => `    '${one.path}') words='${followers(one).join(' ')}' ;;`);
  const choices = commands.flatMap(({ path, options }) =>
    options
      .filter((option) => option.choices.length > 0)
      .map((option) => `    '${path} ${option.long}') words='${option.choices.join(' ')}' ;;`),
  );
  const head = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return `${head}_troupe() {
  local path='' word words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in -*) continue ;; esac
    case "$path" in ${families.join('|')}) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _troupe troupe`;
}

function fish(program: Command): string {
  const [root, ...commands] = commandList(program);
  const isAfter = (path: string): string =>
    path === ''
      ? '__fish_use_subcommand'
      : `'${path
          .split(' ')
          .map((word) => `__fish_seen_subcommand_from ${word}`)
          .join('; and ')}'`;
  const summaryOf = (path: string): string =>
    commands.find((one) => one.path === path)?.summary.replaceAll("'", '') ?? '';
  return [root as ListedCommand, ...commands]
    .flatMap(({ path, subcommands, options }) => [
      ...subcommands.map(
        (name) =>
          `complete -c troupe -n ${isAfter(path)} -a ${name} -d '${summaryOf(`${path} ${name}`.trim())}'`,
      ),
      ...options.map(({ long, choices }) => {
        const values = choices.length === 0 ? '' : ` -xa '${choices.join(' ')}'`;
        return `complete -c troupe -n ${isAfter(path)} -l ${long.slice(2)}${values}`;
      }),
    ])
    .join('\n');
}
