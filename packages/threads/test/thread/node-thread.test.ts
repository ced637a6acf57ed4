import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findBootModule } from '#src/thread/node-boot-module.js';
import { NodeThread } from '#src/thread/node-thread.js';

const threads = suite('thread');

interface Ended {
  readonly messages: readonly unknown[];
  readonly error: Error & { code?: string };
}

function run(code: string): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-thread-'));
  const file = join(folder, 'boot.mjs');
  writeFileSync(file, `import { parentPort, workerData } from 'node:worker_threads';\n${code}`);
  return new Promise((resolve) => {
    const messages: unknown[] = [];
    const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };
    const spec = { name: 't1', boot: pathToFileURL(file), data: 7, resourceLimits };
    new NodeThread(spec, {
      onMessage: (message) => void messages.push(message),
      onEnd: (error) => {
        rmSync(folder, { recursive: true });
        resolve({ messages, error });
      },
    });
  });
}

threads('a thread gets its data, and its messages arrive before its end', async () => {
  const { messages, error } = await run('parentPort.postMessage(workerData + 1); process.exit(3);');
  assert.equal(messages, [8]);
  assert.equal([error.code, Reflect.get(error, 'exitCode')], ['ERR_THREAD_ENDED', 3]);
});

threads('an error that no code catches is the cause of the end', async () => {
  const { error } = await run("throw new TypeError('no such thing');");
  assert.is(error.code, 'ERR_THREAD_ENDED');
  assert.instance(error.cause, TypeError);
});

threads('a heap out of memory ends the thread with its own error, and the process lives', async () => {
  const { error } = await run(
    'const all = []; setInterval(() => { for (let i = 0; i < 100; i += 1) all.push(new Array(1_000).fill(i)); }, 0);',
  );
  assert.is(error.code, 'ERR_THREAD_MEMORY');
});

threads('a boot module that is neither beside its starter nor installed is an error with the remedy', () => {
  const from = pathToFileURL(join(tmpdir(), 'no-such-folder', 'starter.js')).href;
  const file = { path: './node-x-thread-main.js', from, entry: '@troupe/no-such-entry' };
  assert.throws(
    () => findBootModule('t1', file),
    (error: Error & { code: string }) =>
      error.code === 'ERR_THREAD_START' && /written to node-x-thread-main\.js/.test(error.message),
  );
});

threads.run();
