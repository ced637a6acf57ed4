import { execFileSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandList, sharedOptions } from '#src/command-list.js';
import { ExitCode, exitMeanings } from '#src/exit-code.js';
import { programOf } from '#src/program.js';
import { inProcess, troupe } from './bin/troupe.js';

const list = suite('the list of commands');
const terminal = { out: () => undefined, err: () => undefined, isInteractive: false, draw: () => undefined };
const commands = commandList(programOf({ terminal, exitCode: 0 }, []));
const runnable = commands.filter(({ example }) => example !== undefined);

list(
  'every command has `--json`, a help text and an example of itself with options that it has',
  async () => {
    for (const { path, options, example = '' } of runnable) {
      assert.ok(
        options.some(({ long }) => long === '--json'),
        `${path} has no --json`,
      );
      assert.match(example, `troupe ${path}`, path);
      const known = options.map(({ long }) => long);
      for (const [option] of example.matchAll(/--[a-z-]+/g))
        assert.ok(known.includes(option), `${path} ${option}`);
      const help = await inProcess([...path.split(' '), '--help']);
      assert.is(help.code, 0);
      assert.match(help.out, example, path);
    }
  },
);

list(
  'options of the connection are the same wherever they stand, and each exit code has its row once',
  () => {
    const shared = sharedOptions().map(({ long }) => long);
    assert.ok(shared.includes('--leader') && shared.includes('--timeout'));
    const codes = exitMeanings().map(({ code }) => code);
    assert.is(new Set(codes).size, codes.length);
    for (const code of Object.values(ExitCode)) assert.ok(codes.includes(String(code)), String(code));
  },
);

list('an unknown command or option is one line that says what to do, and exit 64', async () => {
  for (const { path } of runnable) {
    const ended = await inProcess([...path.split(' '), '--no-such-option', '--json']);
    assert.is(ended.code, 64, path);
    const { error } = JSON.parse(ended.err) as { error: { exitCode: number; message: string } };
    assert.is(error.exitCode, 64);
    assert.match(error.message, `see troupe ${path} --help`);
  }
});

list('the completion of bash knows families, options and choices', async () => {
  const { out: script } = await inProcess(['completion', 'bash']);
  const complete = (...words: string[]): string[] => {
    const call = `${script}\nCOMP_WORDS=(troupe ${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length}\n_troupe; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return bash(call)
      .split('\n')
      .filter((line) => line !== '');
  };
  assert.ok(complete('d').includes('dlq'));
  assert.equal(complete('dlq', 'p').sort(), ['purge']);
  assert.ok(complete('dlq', 'ls', '--m').includes('--max'));
  assert.equal(complete('ls', '--state', 'q'), ['queued']);
  assert.ok(complete('submit', 'mail.send', '--idem').includes('--idempotency-key'));
});

list('the completion of fish and zsh is a script, and another shell is a usage error', async () => {
  assert.match((await inProcess(['completion', 'fish'])).out, /complete -c troupe .* -a dlq/);
  assert.match((await inProcess(['completion', 'zsh'])).out, /^autoload/);
  assert.is((await troupe(['completion', 'tcsh'])).code, 64);
});

function bash(script: string): string {
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' });
}

list.run();
