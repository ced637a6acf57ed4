// timeout: 120s
import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const large = suite('large body');
const MIB = 1024 * 1024;
const BODY_BYTES = 256 * MIB;
const HEAP = ['--max-old-space-size=64'];
// Heap and buffers together, beyond the memory of Node at its start.
const EXTRA_BYTES_MAX = 96 * MIB;

interface Report {
  readonly bytes?: number;
  readonly hash?: string;
  readonly extraBytes: number;
}

function peer(role: string, argument: string): ChildProcess {
  return fork(new URL('large-body-process.js', import.meta.url), [role, argument], { execArgv: HEAP });
}

function message<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (value) => resolve(value as T));
    child.once('exit', (code) => reject(new Error(`exit code ${code} before its first message`)));
  });
}

large('a file of 256 MiB is streamed unchanged between heaps of 64 MiB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-transport-'));
  try {
    const path = join(folder, 'body');
    const file = await open(path, 'w');
    // A sparse file in which every block is different.
    for (let at = 0; at < BODY_BYTES; at += MIB)
      await file.write(Buffer.from(`block ${at}`), 0, undefined, at + (at % 997));
    await file.truncate(BODY_BYTES);
    await file.close();
    const receiver = peer('receiver', '');
    const { port } = await message<{ port: number }>(receiver);
    const received = message<Report>(receiver);
    const sender = peer('sender', `${path}|${port}`);
    const [got, sent] = await Promise.all([received, message<Report>(sender)]);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk);
    assert.is(got.bytes, BODY_BYTES);
    assert.is(got.hash, hash.digest('hex'));
    for (const { extraBytes } of [got, sent])
      assert.ok(extraBytes < EXTRA_BYTES_MAX, `${extraBytes / MIB} MiB extra`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

large.run();
