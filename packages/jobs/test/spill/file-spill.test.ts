import { createSystem } from '@troupe/core';
import type { Storage } from '@troupe/wal';
import { nodeStorage } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JournalOwner } from '#src/journal/journal.js';
import { fileSpill } from '#src/spill/file-spill.js';
import type { Spill, SpillLoaded, SpillWritten } from '#src/spill/spill.js';
import { tempFolder } from '../temp-folder.js';

const files = suite('files of a spill');

interface Rig extends AsyncDisposable {
  readonly spill: Spill;
  readonly found: ReadonlyMap<number, string>;
  write(file: number, position: number, text: string, isDurable?: boolean): Promise<SpillWritten>;
  read(file: number, position: number, length: number): Promise<SpillLoaded>;
}

/** The spill as an actor of a system, and a receiver whose answers are promises. */
async function rig(storage: Storage, named: readonly number[] = []): Promise<Rig> {
  const system = createSystem({ name: 'spill-test' });
  const found = new Map<number, string>();
  const owner: JournalOwner = {
    spawn: ((...args: Parameters<typeof system.spawn>) => system.spawn(...args)) as JournalOwner['spawn'],
    ask: ((...args: Parameters<typeof system.ask>) => system.ask(...args)) as unknown as JournalOwner['ask'],
  };
  const spill = await new Promise<Spill>((resolve, reject) => {
    fileSpill(storage)(
      new Set(named),
      (file, bytes) => found.set(file, Buffer.from(bytes).toString()),
      (error, opened) => (opened === undefined ? reject(error) : resolve(opened)),
      owner,
    );
  });
  let written: (value: SpillWritten) => void = () => undefined;
  const loading = new Map<number, (value: SpillLoaded) => void>();
  const to = {
    tell: {
      spillWritten: (value: SpillWritten) => written(value),
      spillLoaded: (value: SpillLoaded) => loading.get(value.number)?.(value),
    },
  };
  let number = 0;
  return {
    spill,
    found,
    write: (file, position, text, isDurable = false) =>
      new Promise((resolve) => {
        written = resolve;
        spill.write({ file, position, bytes: Buffer.from(text), isDurable, to });
      }),
    read: (file, position, length) =>
      new Promise((resolve) => {
        number += 1;
        loading.set(number, resolve);
        spill.read({ number, file, position, length, to });
      }),
    [Symbol.asyncDispose]: async () => void (await system.shutdown()),
  };
}

function textOf({ bytes }: SpillLoaded): string {
  return Buffer.from(bytes).toString();
}

files('bytes are read where they were written, by an earlier opening, too', async () => {
  await using folder = await tempFolder();
  {
    await using first = await rig(nodeStorage(folder.path));
    assert.is((await first.write(1, 0, 'hello ')).error, null);
    assert.is((await first.write(1, 6, 'world', true)).error, null);
    assert.is(textOf(await first.read(1, 6, 5)), 'world');
  }
  await using second = await rig(nodeStorage(folder.path), [1]);
  assert.equal([...second.found], [[1, 'hello world']]);
  assert.is(textOf(await second.read(1, 0, 5)), 'hello');
});

files('a file that no record names is removed, and files of others are left alone', async () => {
  await using folder = await tempFolder();
  const storage = nodeStorage(folder.path);
  {
    await using first = await rig(storage);
    await first.write(1, 0, 'one');
    await first.write(2, 0, 'two');
  }
  const { writeFile, readdir } = await import('node:fs/promises');
  await writeFile(`${folder.path}/streams/notes.txt`, 'not ours');
  await using second = await rig(storage, [2]);
  assert.equal([...second.found.keys()], [2]);
  assert.equal((await readdir(`${folder.path}/streams`)).sort(), ['2.spill', 'notes.txt']);
});

files('a removed file cannot be read, and more files than are kept open can', async () => {
  await using folder = await tempFolder();
  await using one = await rig(nodeStorage(folder.path));
  for (let file = 1; file <= 40; file += 1) await one.write(file, 0, `file ${file}`);
  const texts = await Promise.all(Array.from({ length: 40 }, (_, i) => one.read(i + 1, 0, 7)));
  assert.equal(texts.map(textOf).slice(0, 2), ['file 1', 'file 2']);
  assert.is((await one.write(40, 7, '!')).error, null);
  one.spill.remove([3]);
  // A read may overtake the removal.
  while ((await one.read(3, 0, 6)).error === null);
  assert.is(textOf(await one.read(40, 0, 8)), 'file 40!');
});

files('a durable write survives a power cut, with the name of its file; another may not', async () => {
  const storage = new FaultyStorage({ schedule: (complete) => setImmediate(complete) });
  {
    await using one = await rig(storage);
    await one.write(1, 0, 'not yet ');
    await one.write(1, 8, 'durable', true);
    await one.write(2, 0, 'perhaps');
  }
  const after = new FaultyStorage({
    disk: storage.disk.afterCrash('drop', 1),
    schedule: (complete) => setImmediate(complete),
  });
  await using two = await rig(after, [1, 2]);
  assert.is(two.found.get(1), 'not yet durable');
  assert.not.ok(two.found.get(2)?.includes('perhaps'));
});

files('bytes that an opening finds survive a power cut after it', async () => {
  const storage = new FaultyStorage({ schedule: (complete) => setImmediate(complete) });
  {
    await using one = await rig(storage);
    await one.write(1, 0, 'not synced');
  }
  {
    await using two = await rig(storage, [1]);
    assert.is(two.found.get(1), 'not synced');
  }
  const after = new FaultyStorage({
    disk: storage.disk.afterCrash('drop', 1),
    schedule: (complete) => setImmediate(complete),
  });
  await using three = await rig(after, [1]);
  assert.is(three.found.get(1), 'not synced');
});

files('an error of a call is its answer: a short write, too', async () => {
  const faults = [
    { kind: 'error', errno: 'ENOSPC' },
    { kind: 'short', bytes: 2 },
  ] as const;
  for (const fault of faults) {
    const storage = new FaultyStorage({
      schedule: (complete) => setImmediate(complete),
      fault: ({ operation }) => (operation === 'write' ? fault : undefined),
    });
    await using one = await rig(storage);
    assert.ok((await one.write(1, 0, 'text')).error !== null);
    assert.ok((await one.read(9, 0, 4)).error !== null);
  }
});

files.run();
