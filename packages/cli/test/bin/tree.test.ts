import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActorsView, LeaderActors } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inProcess, lines, ownLeader, stage, workerOf } from './troupe.js';

const tree = suite('actors by the command');

tree('`troupe tree` shows the actors of a leader, its recent messages and its log', async () => {
  await using s = await ownLeader();
  const shown = await inProcess(['tree', '--leader', s.at]);
  assert.is(shown.code, 0);
  assert.match(shown.out, /^\d+ actors, \d+ ready; messages: /);
  assert.match(shown.out, /\n[├└]─ leader /);
  assert.match(shown.out, /recent messages, oldest first:\n {2}.*→/);
  assert.match(shown.out, /log:\n {2}last durable record \d+, 0\.0 MiB/);
  const quiet = await inProcess(['tree', '--leader', s.at, '--recent', '0']);
  assert.not.match(quiet.out, /recent/);
  const [actors] = lines(await inProcess(['tree', '--leader', s.at, '--json'])) as unknown as LeaderActors[];
  assert.is(actors?.root.path, '/');
  assert.ok((actors?.lsn ?? 0) > 0);
});

tree('`troupe tree --socket` shows a worker that was started with one, to its owner alone', async () => {
  await using s = await stage();
  // A path of a Unix socket is short.
  const dir = await mkdtemp(join(tmpdir(), 'troupe-tree-'));
  const socket = join(dir, 'w1.sock');
  try {
    await using worker = await workerOf(s.at, s.dir, ['--actors-socket', socket]);
    assert.is((await stat(socket)).mode & 0o777, 0o600);
    const shown = await inProcess(['tree', '--socket', socket]);
    assert.is(shown.code, 0, shown.err);
    assert.match(shown.out, /worker/);
    assert.not.match(shown.out, /\nlog:/);
    const [actors] = lines(
      await inProcess(['tree', '--socket', socket, '--json']),
    ) as unknown as ActorsView[];
    assert.ok(actors?.root.children.some(({ path }) => path === '/worker'));
    await worker.end('SIGKILL');
    await using next = await workerOf(s.at, s.dir, ['--actors-socket', socket]);
    assert.is(
      (await inProcess(['tree', '--socket', socket])).code,
      0,
      'the file of the killed one is replaced',
    );
    assert.is(await next.end('SIGTERM'), 0);
    const gone = await inProcess(['tree', '--socket', socket]);
    assert.is(gone.code, 66);
    assert.match(gone.err, /^troupe: connect ENOENT .*; check the path\n$/);
    await writeFile(join(dir, 'file'), '');
    assert.is((await inProcess(['tree', '--socket', join(dir, 'file')])).code, 69);
  } finally {
    await rm(dir, { recursive: true });
  }
});

tree.run();
