// timeout: 240s
// A process on a real file system, killed with SIGKILL repeatedly. After every kill the next process checks
// every record; its last LSN must not be below the last acknowledged one.
//
// Arguments: --kills N (default 15).

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SeededRandom } from '@troupe/core/testing';
import { openWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sequenceCheckFold } from './sequence-check-fold.js';

const kills = suite('kill -9');
const APPENDER = fileURLToPath(new URL('./append-until-killed.js', import.meta.url));
const KILLS = killsWanted();

function killsWanted(): number {
  const at = process.argv.indexOf('--kills');
  return at < 0 ? 15 : Number(process.argv[at + 1]);
}

interface Appender {
  readonly child: ChildProcess;
  /** Last LSN after its recovery. */
  readonly found: number;
  acked(): number;
  /** Resolves with the next output; rejects if the process ends by itself. */
  nextOutput(): Promise<unknown>;
}

function start(dir: string): Promise<Appender> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [APPENDER, dir], { stdio: ['ignore', 'pipe', 'pipe'] });
    let acked = 0;
    let rest = '';
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [word, lsn] = line.split(' ');
        if (word === 'ready') resolve({ child, found: Number(lsn), acked: () => acked, nextOutput });
        else acked = Number(lsn);
      }
    });
    const ended = new Promise<never>((_resolve, end) => {
      child.once('exit', (code) => end(new Error(`the process ended by itself with ${code}: ${errors}`)));
    });
    ended.catch(reject);
    const nextOutput = (): Promise<unknown> => Promise.race([once(child.stdout, 'data'), ended]);
  });
}

kills(`${KILLS} kills lose no acknowledged record`, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-wal-kill-'));
  const random = new SeededRandom(11);
  try {
    let acknowledged = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const appender = await start(dir);
      assert.ok(
        appender.found >= acknowledged,
        `kill ${round}: ${acknowledged} acknowledged, ${appender.found} found`,
      );
      // Waits for a number of acknowledgements, not for a time, so that every kill hits a writing process.
      const enough = appender.found + 1 + random.below(3_000);
      while (appender.acked() < enough) await appender.nextOutput();
      appender.child.kill('SIGKILL');
      await once(appender.child, 'close');
      acknowledged = appender.acked();
    }
    await using wal = await openWal({ dir, freeBytesSoft: 0 });
    const state = await wal.restore(sequenceCheckFold);
    assert.ok(state.lastLsn >= acknowledged);
    assert.ok(acknowledged > KILLS * 50, `only ${acknowledged} records were written`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

kills.run();
