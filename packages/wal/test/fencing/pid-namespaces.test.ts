// timeout: 120s
// Real processes on one directory, in two pid namespaces, or after LOCK was removed by hand.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWal, verifyWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempDirectory } from '../temp-directory.js';

const namespaces = suite('pid namespaces');
const APPENDER = fileURLToPath(new URL('./append-as.js', import.meta.url));
const NAMESPACE = ['--pid', '--fork', '--kill-child', '--mount-proc'];

const hasNamespaces = process.platform === 'linux' && isDone('unshare', [...NAMESPACE, 'true']);
const hasFlock = isDone('flock', ['--version']);

/** False, with a printed reason, where this machine lacks something. */
function canRun(needs: { readonly namespaces: boolean; readonly flock: boolean }): boolean {
  const missing = [
    ...(needs.namespaces && !hasNamespaces ? ['unshare --pid is not permitted here'] : []),
    ...(needs.flock && !hasFlock ? ['flock(1) is not installed'] : []),
  ];
  for (const reason of missing) console.log(`skipped: ${reason}`);
  return missing.length === 0;
}

function isDone(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

class Appender implements AsyncDisposable {
  readonly acked = new Map<number, string>();
  readonly events: string[] = [];
  errors = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;
  private rest = '';

  /** `flock`: whether the process finds flock(1). */
  constructor(dir: string, name: string, options: { namespace: boolean; flock: boolean; emptyPath: string }) {
    const command = options.namespace ? ['/usr/bin/env', 'unshare', ...NAMESPACE] : ['/usr/bin/env'];
    const path = options.flock ? [] : ['env', `PATH=${options.emptyPath}`];
    const [file = '', ...args] = [...command, ...path, process.execPath, APPENDER, dir, name];
    this.child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
    this.child.stdout?.on('data', (chunk: Buffer) => this.read(chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
  }

  exit(): Promise<number | null> {
    return this.ended;
  }

  /** Once this many records are acknowledged, or the process has ended. */
  async untilAcked(count: number): Promise<void> {
    while (this.acked.size < count && this.child.exitCode === null)
      await Promise.race([once(this.child.stdout as NodeJS.EventEmitter, 'data'), this.ended]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private read(chunk: string): void {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      const [word = '', lsn = '', ...text] = line.split(' ');
      if (word === 'acked') this.acked.set(Number(lsn), text.join(' '));
      else if (word === 'event') this.events.push(lsn);
    }
  }
}

async function assertInLog(dir: string, appenders: readonly Appender[]): Promise<void> {
  assert.ok((await verifyWal(dir)).ok);
  await using wal = await openWal({ dir, freeBytesSoft: 0 });
  const found = new Map<number, string>();
  await wal.replay((lsn, payload) => void found.set(lsn, payload.toString()), { from: wal.log.firstLsn });
  for (const { acked } of appenders)
    for (const [lsn, text] of acked) assert.is(found.get(lsn), text, `lsn ${lsn}`);
}

namespaces('a second process in another pid namespace is refused by the lock of the kernel', async () => {
  if (!canRun({ namespaces: true, flock: true })) return;
  await using directory = await tempDirectory();
  const options = { flock: true, emptyPath: '' };
  await using first = new Appender(directory.path, 'first', { ...options, namespace: false });
  await first.untilAcked(5);
  await using second = new Appender(directory.path, 'second', { ...options, namespace: true });
  assert.is(await second.exit(), 73);
  assert.match(second.errors, /ERR_WAL_LOCKED .*pid namespace/);
  await first.untilAcked(first.acked.size + 5);
  assert.is(first.errors, '', 'the first process goes on');
});

namespaces('a second process is refused after LOCK was removed by hand', async () => {
  if (!canRun({ namespaces: false, flock: true })) return;
  await using directory = await tempDirectory();
  const options = { flock: true, emptyPath: '', namespace: false };
  await using first = new Appender(directory.path, 'first', options);
  await first.untilAcked(5);
  await rm(join(directory.path, 'LOCK'));
  await using second = new Appender(directory.path, 'second', options);
  assert.is(await second.exit(), 73);
  assert.match(second.errors, /ERR_WAL_LOCKED/);
});

namespaces(
  'without flock(1) a process whose directory was opened from another pid namespace ends with 73, and nothing acknowledged is lost',
  async () => {
    if (!canRun({ namespaces: true, flock: false })) return;
    await using directory = await tempDirectory();
    const dir = join(directory.path, 'log');
    const emptyPath = join(directory.path, 'bin');
    await mkdir(emptyPath);
    await using first = new Appender(dir, 'first', { namespace: false, flock: false, emptyPath });
    await first.untilAcked(20);
    assert.equal(first.events, ['lock-unavailable'], 'the missing lock is reported');
    const second = new Appender(dir, 'second', { namespace: true, flock: false, emptyPath });
    await second.untilAcked(20);
    assert.is(await first.exit(), 73, second.errors);
    assert.match(first.errors, /ERR_WAL_FENCED/);
    assert.ok(second.acked.size >= 20, second.errors);
    await second[Symbol.asyncDispose]();
    await assertInLog(dir, [first, second]);
  },
);

namespaces(
  'without flock(1) a removed LOCK lets a second process in, and the first ends with 73',
  async () => {
    await using directory = await tempDirectory();
    const dir = join(directory.path, 'log');
    const emptyPath = join(directory.path, 'bin');
    await mkdir(emptyPath);
    const options = { namespace: false, flock: false, emptyPath };
    await using first = new Appender(dir, 'first', options);
    await first.untilAcked(20);
    await rm(join(dir, 'LOCK'));
    const second = new Appender(dir, 'second', options);
    await second.untilAcked(20);
    assert.is(await first.exit(), 73, second.errors);
    await second[Symbol.asyncDispose]();
    await assertInLog(dir, [first, second]);
  },
);

namespaces.run();
