// timeout: 300s
// The gate on a small git repository whose benchmark processes log their start and print fixed samples.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { GateCommand } from '#src/cli/parse-arguments.js';
import { gateCommand } from '#src/gate/gate-command.js';

const gate = suite('gate');
const run = promisify(execFile);

interface Build {
  readonly label: string;
  readonly seconds: number;
  readonly rows: readonly string[];
  /** The process of this row fails. */
  readonly failing?: string;
}

const suiteOf = (rows: readonly string[]): string =>
  `export const suite = { cases: ${JSON.stringify(rows.map((benchmark) => ({ benchmark, systems: ['troupe'] })))} };`;

const childOf = (log: string, { label, seconds, failing = '' }: Build): string => `
import { appendFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ label: '${label}', file: process.argv[1], request: process.argv[2] }) + '\\n');
const { benchmark } = JSON.parse(process.argv[2]);
const sample = { attempted: 1, completed: 1, seconds: ${seconds}, p50: ${seconds} };
if (benchmark === '${failing}') process.exit(1);
console.log('@sample ' + JSON.stringify(sample));`;

interface Started {
  readonly label: string;
  readonly file: string;
  readonly request: string;
}

/** A repository with one commit, whose build is `base`, and a working tree whose build is `tree`. */
async function repository(base: Build, tree: Build) {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-gate-test-'));
  const root = join(folder, 'repository');
  const log = join(folder, 'log');
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=test', '-c', 'user.email=test@test.invalid', ...args], { cwd: root });
  const write = async (build: Build): Promise<void> => {
    await writeFile(join(root, 'child.mjs'), childOf(log, build));
    await writeFile(join(root, 'suite.mjs'), suiteOf(build.rows));
  };
  const build = `mkdir -p bench/dist/runner bench/dist/suites && cp child.mjs bench/dist/runner/child.js && cp suite.mjs bench/dist/suites/transport.suite.js`;
  await mkdir(join(root, 'bench'), { recursive: true });
  await writeFile(join(root, 'package.json'), JSON.stringify({ type: 'module', scripts: { build } }));
  await writeFile(join(root, 'bench/package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(root, '.gitignore'), 'dist\n');
  await write(base);
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'base');
  await write(tree);
  await run('npm', ['run', 'build'], { cwd: root });
  return {
    root,
    started: async (): Promise<Started[]> =>
      (await readFile(log, 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    worktrees: async () => (await git('worktree', 'list')).stdout.trim().split('\n').length,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function commandWith(parts: Partial<GateCommand>): GateCommand {
  return {
    kind: 'gate',
    suite: 'transport',
    base: 'HEAD',
    only: undefined,
    scale: 0.5,
    rounds: 7,
    outputs: {},
    ...parts,
  };
}

const rows = ['one-way', 'ping-pong', 'in-flight-1000', 'body-64mb'];
const lines = (): { printed: string[]; print(line: string): void } => {
  const printed: string[] = [];
  return { printed, print: (line) => printed.push(line) };
};

gate('each side runs its own build in fresh alternating processes, with the same requests', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows },
    { label: 'tree', seconds: 1, rows },
  );
  const { printed, print } = lines();
  assert.is(await gateCommand(commandWith({ only: ['one-way'] }), print, repo.root), 0, printed.join('\n'));
  const started = await repo.started();
  const labels = started.map(({ label }) => label);
  const pair = (round: number): string[] => (round % 2 === 0 ? ['tree', 'base'] : ['base', 'tree']);
  assert.equal(labels, [0, 1, 2, 3, 4, 5, 6].flatMap(pair));
  for (const { label, file } of started) assert.is(file.startsWith(repo.root), label === 'tree');
  for (let round = 0; round < 7; round += 1) {
    const [first, second] = started.slice(2 * round);
    assert.is(first?.request, second?.request);
    const { suite: name, benchmark, context } = JSON.parse(first?.request ?? '{}');
    assert.equal([name, benchmark], ['transport', 'one-way']);
    assert.equal(context, { system: 'troupe', scale: 0.75, round, adapters: {} });
  }
  assert.is(printed.at(-1), 'gate: passed');
  assert.is(await repo.worktrees(), 1);
});

gate('rows of one side only are printed and not compared', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows: ['one-way', 'old-name'] },
    { label: 'tree', seconds: 1, rows },
  );
  const { printed, print } = lines();
  assert.is(await gateCommand(commandWith({}), print, repo.root), 0, printed.join('\n'));
  const started = (await repo.started()).map(({ request }) => JSON.parse(request).benchmark);
  assert.equal([...new Set(started)], ['one-way']);
  const text = printed.join('\n');
  for (const name of rows.slice(1)) assert.match(text, new RegExp(`${name} +only in the working tree`));
  assert.match(text, /old-name +only in the base/);
});

gate('a gate without a common row fails', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows: ['old-name'] },
    { label: 'tree', seconds: 1, rows },
  );
  const { printed, print } = lines();
  assert.is(await gateCommand(commandWith({ only: ['old-name', 'one-way'] }), print, repo.root), 1);
  assert.equal(await repo.started(), []);
  assert.is(printed.at(-1), 'gate: failed, no row is in both sides');
});

gate('a slower working tree is measured a second time and fails the gate', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows },
    { label: 'tree', seconds: 2, rows },
  );
  const { printed, print } = lines();
  assert.is(await gateCommand(commandWith({ only: ['ping-pong'] }), print, repo.root), 1);
  assert.is((await repo.started()).length, 2 * 7 * 2);
  assert.match(printed.join('\n'), /SLOWER, running again/);
  assert.is(printed.at(-1), 'gate: failed, ping-pong slower');
});

gate('a row that fails on one side is refused, and the other rows are still compared', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows, failing: 'one-way' },
    { label: 'tree', seconds: 1, rows },
  );
  const { printed, print } = lines();
  assert.is(await gateCommand(commandWith({ only: ['one-way', 'ping-pong'] }), print, repo.root), 1);
  const text = printed.join('\n');
  assert.match(text, /one-way: refused, in the base: exit 1/);
  assert.match(text, /ping-pong .*same within noise/);
  assert.is(printed.at(-1), 'gate: failed, one-way refused');
});

gate('an unknown row is a usage error, and the worktree is removed', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows },
    { label: 'tree', seconds: 1, rows },
  );
  try {
    await gateCommand(commandWith({ only: ['no-such-row'] }), () => undefined, repo.root);
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /no benchmark 'no-such-row'/);
  }
  assert.is(await repo.worktrees(), 1);
});

gate('SIGINT kills the running process and removes the worktree', async () => {
  await using repo = await repository(
    { label: 'base', seconds: 1, rows },
    { label: 'tree', seconds: 1, rows },
  );
  const { printed, print } = lines();
  const exitCode = gateCommand(commandWith({}), print, repo.root);
  while ((await repo.started()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  process.emit('SIGINT');
  assert.is(await exitCode, 130);
  assert.is(printed.at(-1), 'gate: interrupted');
  assert.is(await repo.worktrees(), 1);
});

gate.run();
