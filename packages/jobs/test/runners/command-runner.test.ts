// timeout: 120s
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, JobFailedError } from '@troupe/jobs';
import { command, commandRunner } from '@troupe/jobs/runners';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { tempFolder } from '../temp-folder.js';

const commands = suite('command runner');

interface World extends AsyncDisposable {
  readonly dir: string;
  readonly client: Client;
}

async function world(more: object = {}): Promise<World> {
  const folder = await tempFolder();
  const app = await embedded({ dir: join(folder.path, 'state') });
  const dir = join(folder.path, 'work');
  await mkdir(dir);
  const allow = {
    sh: '/bin/sh',
    echo: '/bin/echo',
    cat: '/bin/cat',
    tail: { path: '/usr/bin/tail', args: (args: readonly string[]) => !args.includes('/etc/shadow') },
    missing: '/no/such/program',
  };
  app.worker({ handlers: [commandRunner({ allow, cwd: dir, graceMs: 200, ...more })] });
  return {
    dir,
    client: app.client(),
    async [Symbol.asyncDispose]() {
      await app.close({ withinMs: 0 });
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function errorOf(promise: Promise<unknown>): Promise<JobFailedError> {
  try {
    await promise;
  } catch (error) {
    return error as JobFailedError;
  }
  throw new Error('no error');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; !(await holds()); ) {
    assert.ok(performance.now() < end, 'it never came to hold');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function pidIn(path: string): Promise<number> {
  await until(async () => (await readFile(path, 'utf8').catch(() => '')).includes('\n'));
  return Number((await readFile(path, 'utf8')).trim());
}

commands('stdout, stderr and the exit code are collected; no shell reads the arguments', async () => {
  await using one = await world();
  const plain = await one.client.run(command, { argv: ['echo', '$HOME', ';', 'ls', '*'] });
  assert.equal([plain.stdout, plain.stderr, plain.exitCode], ['$HOME ; ls *\n', '', 0]);
  const failed = await one.client.run(command, { argv: ['sh', '-c', 'echo out; echo err >&2; exit 3'] });
  assert.equal([failed.stdout, failed.stderr, failed.exitCode, failed.signal], ['out\n', 'err\n', 3, null]);
  const killed = await one.client.run(command, { argv: ['sh', '-c', 'kill -9 $$'] });
  assert.equal([killed.exitCode, killed.signal], [null, 'SIGKILL']);
});

commands('chunks are tagged by their stream, and the exit comes last', async () => {
  await using one = await world();
  const job = await one.client.stream(command, {
    argv: ['sh', '-c', 'echo a; sleep 0.1; echo b >&2; sleep 0.1'],
  });
  const chunks: unknown[] = [];
  for await (const chunk of job) chunks.push(chunk);
  assert.equal(chunks, [
    { from: 'stdout', text: 'a\n' },
    { from: 'stderr', text: 'b\n' },
    { from: 'exit', exitCode: 0, signal: null },
  ]);
});

commands('`tail -f` streams lines as they are written, until its job is cancelled', async () => {
  await using one = await world();
  const log = join(one.dir, 'log');
  await writeFile(log, 'first\n');
  const job = await one.client.stream(command, { argv: ['tail', '-f', 'log'] });
  const chunks = job.stream();
  assert.equal((await chunks.next()).value, { from: 'stdout', text: 'first\n' });
  await appendFile(log, 'second\n');
  assert.equal((await chunks.next()).value, { from: 'stdout', text: 'second\n' });
  await job.cancel();
  assert.is(((await errorOf(chunks.next())) as { code: string }).code, 'ERR_JOB_CANCELLED');
});

commands('stdin is the feed of the job', async () => {
  await using one = await world();
  const job = await one.client.submit(command, { argv: ['cat'] }, { streaming: true });
  await job.feed('to be ');
  await job.feed('or not');
  await job.endFeed();
  assert.is((await job.result()).stdout, 'to be or not');
  assert.is((await one.client.run(command, { argv: ['cat'] })).stdout, '');
});

// The group: a program that ignores SIGTERM, and a child that it started.
commands('a cancelled job ends its whole process group, by SIGKILL after the grace', async () => {
  await using one = await world();
  const script =
    'trap "" TERM; sh -c \'echo $$ > child; trap "" TERM; sleep 1000\' & echo $$ > main; wait; sleep 1000';
  const job = await one.client.submit(command, { argv: ['sh', '-c', script] });
  const pids = [await pidIn(join(one.dir, 'main')), await pidIn(join(one.dir, 'child'))];
  assert.equal(pids.map(isAlive), [true, true]);
  await job.cancel();
  await until(() => !pids.some(isAlive));
});

commands('a child that outlives its program is ended with the job, and holds no pipe', async () => {
  await using one = await world();
  const ran = await one.client.run(command, {
    argv: ['sh', '-c', 'sleep 1000 & echo $! > child; echo done'],
  });
  assert.equal([ran.stdout, ran.exitCode], ['done\n', 0]);
  const pid = await pidIn(join(one.dir, 'child'));
  await until(() => !isAlive(pid));
});

commands('a program that writes much to both pipes does not block, and its last output is kept', async () => {
  await using one = await world();
  const script =
    'i=0; while [ $i -lt 20000 ]; do echo "out $i 0123456789"; echo "err $i 0123456789" >&2; i=$((i+1)); done';
  const ran = await one.client.run(command, { argv: ['sh', '-c', script] });
  assert.equal([ran.exitCode, ran.isTruncated], [0, true]);
  assert.ok(ran.stdout.endsWith('out 19999 0123456789\n') && ran.stderr.endsWith('err 19999 0123456789\n'));
  assert.is(ran.stdout.length, 256 * 1024);
});

commands('output beyond the bound of the worker ends the program', async () => {
  await using one = await world({ outputBytesMax: 100_000 });
  const job = await one.client.submit(command, {
    argv: ['sh', '-c', 'echo $$ > main; while :; do echo xxxxxxxxxx; done'],
  });
  const { failure } = await errorOf(job.result());
  assert.is(failure?.code, 'ERR_RUNNER_OUTPUT');
  const pid = await pidIn(join(one.dir, 'main'));
  await until(() => !isAlive(pid));
});

commands('what the worker does not allow is refused, and nothing runs', async () => {
  await using one = await world({ jobEnv: ['MODE'] });
  await symlink('/', join(one.dir, 'root'));
  const refused = async (input: {
    argv: string[];
    cwd?: string;
    env?: Record<string, string>;
  }): Promise<string> => {
    const { failure } = await errorOf(one.client.run(command, input));
    return `${failure?.code}: ${failure?.message}`;
  };
  assert.match(await refused({ argv: ['rm', '-rf', '/'] }), /^ERR_RUNNER_REFUSED: .*'rm' is not on/);
  assert.match(await refused({ argv: ['/bin/echo'] }), /^ERR_RUNNER_REFUSED/);
  assert.match(await refused({ argv: ['toString'] }), /^ERR_RUNNER_REFUSED/);
  assert.match(
    await refused({ argv: ['tail', '/etc/shadow'] }),
    /^ERR_RUNNER_REFUSED: .*arguments of 'tail'/,
  );
  assert.match(
    await refused({ argv: ['echo'], env: { LD_PRELOAD: 'x' } }),
    /^ERR_RUNNER_REFUSED: .*LD_PRELOAD/,
  );
  assert.match(await refused({ argv: ['echo'], cwd: '..' }), /^ERR_RUNNER_REFUSED: .*not below/);
  assert.match(await refused({ argv: ['echo'], cwd: 'root' }), /^ERR_RUNNER_REFUSED: .*not below/);
});

commands('a program gets only the variables that are listed', async () => {
  process.env['TROUPE_SECRET'] = 'secret';
  process.env['TROUPE_SHOWN'] = 'shown';
  await using one = await world({ inheritEnv: ['TROUPE_SHOWN'], jobEnv: ['MODE'] });
  const ran = await one.client.run(command, { argv: ['sh', '-c', 'env'], env: { MODE: 'fast' } });
  const names = ran.stdout.split('\n').map((line) => line.split('=')[0]);
  for (const name of ['PATH', 'LANG', 'TROUPE_SHOWN', 'MODE']) assert.ok(names.includes(name), name);
  assert.not.match(ran.stdout, /secret/);
});

commands('a program that cannot be started is a failure of the attempt', async () => {
  await using one = await world();
  const job = await one.client.submit(
    { ...command, policy: { ...command.policy, retry: { ...command.policy.retry, attempts: 1 } } },
    { argv: ['missing'] },
  );
  assert.is((await errorOf(job.result())).failure?.code, 'ENOENT');
});

commands('an input that is no command is refused at its submit', async () => {
  await using one = await world();
  for (const input of [
    {},
    { argv: [] },
    { argv: [1] },
    { argv: ['echo', 'a\0b'] },
    { argv: ['echo'], env: { A: 1 } },
  ])
    assert.is(
      ((await errorOf(one.client.submit(command, input as never))) as { code: string }).code,
      'ERR_JOB_SCHEMA',
    );
});

/** The program says where it is once its guard has had the time to start. */
const WORKER = `
import { embedded } from ${JSON.stringify(import.meta.resolve('@troupe/jobs'))};
import { command, commandRunner } from ${JSON.stringify(import.meta.resolve('@troupe/jobs/runners'))};
const app = await embedded({ dir: process.argv[2] });
app.worker({ handlers: [commandRunner({ allow: { sh: '/bin/sh' }, cwd: process.argv[3] })] });
await app.client().submit(command, { argv: ['sh', '-c', 'sleep 0.5; echo $$ > main; sleep 1000'] });
`;

commands('programs do not outlive a worker that was killed', async () => {
  await using folder = await tempFolder();
  const module = join(folder.path, 'worker.mjs');
  await writeFile(module, WORKER);
  const worker: ChildProcess = spawn(process.execPath, [module, join(folder.path, 'state'), folder.path], {
    stdio: 'inherit',
  });
  const pid = await pidIn(join(folder.path, 'main'));
  assert.ok(isAlive(pid));
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await until(() => !isAlive(pid));
});

commands.run();
