import { Argument, type Command } from 'commander';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../subcommand.js';

type Shell = 'bash' | 'zsh' | 'fish';

export function addCompletion(program: Command, context: CommandContext): void {
  subcommand(
    program,
    'completion',
    'print a completion script for a shell',
    'source <(troupe completion bash)',
  )
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .action((shell: Shell, flags: JsonFlag) => {
      const script = shell === 'fish' ? fish(program) : bash(program, shell);
      printResult(context, flags, { shell, script }, script.split('\n'));
    });
}

/** Every path of subcommands, with the subcommands and options that may follow it. */
function followers(command: Command, path: readonly string[] = []): [string, string[]][] {
  const names = command.commands.map((one) => one.name());
  const options = command.options.flatMap((option) => (option.long === undefined ? [] : [option.long]));
  const own: [string, string[]] = [path.join(' '), [...names, ...options, '--help']];
  return [own, ...command.commands.flatMap((one) => followers(one, [...path, one.name()]))];
}

function bash(program: Command, shell: Shell): string {
  const cases = followers(program).map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
  const head = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return `${head}_troupe() {
  local path='' word words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in -*) ;; *) [ \${#path} -lt 24 ] && case "$path" in ''|dlq|workers|key|wal) path="\${path:+$path }$word" ;; esac ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _troupe troupe`;
}

function fish(program: Command): string {
  return program.commands
    .flatMap((one) => [
      `complete -c troupe -n __fish_use_subcommand -a ${one.name()} -d '${one.description().replaceAll("'", '')}'`,
      ...one.commands.map(
        (inner) => `complete -c troupe -n '__fish_seen_subcommand_from ${one.name()}' -a ${inner.name()}`,
      ),
      ...one.options.flatMap((option) =>
        option.long === undefined
          ? []
          : [`complete -c troupe -n '__fish_seen_subcommand_from ${one.name()}' -l ${option.long.slice(2)}`],
      ),
    ])
    .join('\n');
}
