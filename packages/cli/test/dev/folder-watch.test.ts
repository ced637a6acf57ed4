import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FolderWatch } from '#src/dev/folder-watch.js';

const watches = suite('the watch of a folder of modules');

interface Watched extends AsyncDisposable {
  readonly dir: string;
  /** Resolves with the next change. */
  next(): Promise<string>;
}

async function watched(isIgnored: (file: string) => boolean = () => false): Promise<Watched> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-watch-'));
  await mkdir(join(dir, 'lib', 'deep'), { recursive: true });
  for (const name of ['a.mjs', join('lib', 'deep', 'a.mjs')]) await writeFile(join(dir, name), '1');
  const changes: string[] = [];
  let wake: () => void = () => undefined;
  const watch = new FolderWatch(dir, {
    onChange: (file) => {
      changes.push(file);
      wake();
    },
    onError: (error) => {
      throw error;
    },
    isIgnored,
  });
  return {
    dir,
    next: async () => {
      while (changes.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return changes.shift() ?? '';
    },
    [Symbol.asyncDispose]: async () => {
      watch.close();
      await rm(dir, { recursive: true });
    },
  };
}

watches('a file that was replaced by another of its name is watched on', async () => {
  await using w = await watched();
  for (const name of ['a.mjs', join('lib', 'deep', 'a.mjs')]) {
    const file = join(w.dir, name);
    await writeFile(`${file}.new`, '2');
    await rename(`${file}.new`, file);
    assert.is(await w.next(), name);
    await writeFile(file, '3');
    assert.is(await w.next(), name);
  }
});

watches('a folder that comes later is watched, with the modules that came with it', async () => {
  await using w = await watched();
  await mkdir(join(w.dir, 'new'));
  await writeFile(join(w.dir, 'new', 'b.ts'), '1');
  assert.is(await w.next(), join('new', 'b.ts'));
  await rm(join(w.dir, 'new'), { recursive: true });
  assert.is(await w.next(), join('new', 'b.ts'));
  await mkdir(join(w.dir, 'new'));
  await writeFile(join(w.dir, 'new', 'c.json'), '1');
  assert.is(await w.next(), join('new', 'c.json'));
});

watches('files that no worker loads, packages and ignored files are no change', async () => {
  await using w = await watched((file) => file === 'state' || file.startsWith(join('state', '')));
  for (const folder of ['node_modules', 'state']) await mkdir(join(w.dir, folder));
  await writeFile(join(w.dir, 'first.js'), '1');
  for (const file of ['out.txt', '.a.mjs.swp', join('node_modules', 'x.js'), join('state', 'x.js')])
    await writeFile(join(w.dir, file), '1');
  assert.is(await w.next(), 'first.js');
  await writeFile(join(w.dir, 'last.js'), '1');
  assert.is(await w.next(), 'last.js', 'the others were none, whenever they came');
});

watches.run();
