// timeout: 120s
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, connectClient, defineJob, handle, startWorker } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ended, lines, Running, stage, start, troupe } from './troupe.js';

const backups = suite('backup');

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;
const Fill = defineJob('load.fill', { input: anything, output: anything });

function addressOf(at: string): { port: number } {
  return { port: Number(at.split(':').at(-1)) };
}

/** Submits without a pause; every id in the list was acknowledged. */
class Load {
  readonly acked: string[] = [];
  private stopped = false;
  private readonly lanes: Promise<void>[];

  constructor(client: Client) {
    this.lanes = Array.from({ length: 32 }, (_, lane) => this.run(client, lane));
  }

  async reached(count: number): Promise<void> {
    while (this.acked.length < count) await new Promise((resolve) => setImmediate(resolve));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.lanes);
  }

  private async run(client: Client, lane: number): Promise<void> {
    for (let i = 0; !this.stopped; i += 1) {
      const handled = await client.submit(Fill, { lane, i, fill: 'x'.repeat(4_000) });
      this.acked.push(handled.id);
    }
  }
}

backups(
  'every job that was acknowledged before a backup began is in it, while the leader goes on',
  async () => {
    await using s = await stage();
    await using client = await connectClient({ address: addressOf(s.at), name: 'load' });
    const handlers = [handle(Fill, () => 'done')];
    await using _worker = await startWorker({ address: addressOf(s.at), name: 'w', handlers, cpuCap: 1 });
    const load = new Load(client);
    await load.reached(1_000);
    const before = [...load.acked];
    const target = join(s.dir, 'copy');
    const backup = await troupe(['backup', join(s.dir, 'state'), target, '--json']);
    const during = load.acked.length - before.length;
    await load.stop();
    assert.is(backup.code, 0, backup.err);
    assert.ok(during > 0, 'the leader took jobs meanwhile');
    const [said] = lines(backup);
    assert.ok(Number(said?.['lastLsn']) > 0);
    assert.is((await troupe(['restore', target, join(s.dir, 'restored')])).code, 0);

    await using restored = new Running(['leader', '--port', '0', '--dir', join(s.dir, 'restored')]);
    const at = String((await restored.first)['address']);
    await using reader = await connectClient({ address: addressOf(at), name: 'reader' });
    const states = await Promise.all(before.map(async (id) => (await reader.open(Fill, id).inspect()).state));
    assert.is(states.length, before.length);
    assert.equal(
      states.filter((state) => !['queued', 'running', 'done'].includes(state)),
      [],
    );
  },
);

/** Sparse files of zeros with the names of blobs: the copy succeeds, its verification fails. */
async function fill(state: string, count: number, bytes: number): Promise<void> {
  await mkdir(join(state, 'blobs'), { recursive: true });
  for (let i = 0; i < count; i += 1) {
    const path = join(state, 'blobs', String(i).padStart(64, '0'));
    await writeFile(path, '');
    await truncate(path, bytes);
  }
}

/** Ends a backup with a signal as soon as there is such a file in its copy. */
async function endedAt(file: string, state: string, target: string, signal: NodeJS.Signals): Promise<Ended> {
  const child = start(['backup', state, target]);
  let err = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const closed = once(child, 'close');
  while (!existsSync(join(target, file)) && child.exitCode === null)
    await new Promise((resolve) => setImmediate(resolve));
  child.kill(signal);
  const [code] = (await closed) as [number | null];
  return { code, out: '', err };
}

const MIB = 1024 * 1024;

backups('a signal during the copy of a backup removes the copy', async () => {
  await using s = await stage();
  await s.leader.end();
  const state = join(s.dir, 'state');
  await fill(state, 1, 65_536 * MIB);
  const target = join(s.dir, 'copy');
  const half = join('blobs', '0'.repeat(64));
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const ended = await endedAt(half, state, target, signal);
    assert.equal([ended.code, ended.err], [code, `troupe: copying: ended by ${signal}\n`]);
    assert.not.ok(existsSync(target), signal);
  }
  await mkdir(target);
  assert.is((await endedAt(half, state, target, 'SIGINT')).code, 130);
  assert.equal(await readdir(target), [], 'a folder that was there before stays');
});

backups('a signal during the verification of a backup removes the copy', async () => {
  await using s = await stage();
  await s.leader.end();
  const state = join(s.dir, 'state');
  await fill(state, 16, 16 * MIB);
  const target = join(s.dir, 'copy');
  const ended = await endedAt('CURRENT', state, target, 'SIGTERM');
  assert.equal([ended.code, ended.err], [143, 'troupe: copying: ended by SIGTERM\n']);
  assert.not.ok(existsSync(target));
});

backups.run();
