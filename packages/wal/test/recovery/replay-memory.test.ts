// timeout: 120s

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempDirectory } from '../temp-directory.js';

const memory = suite('replay memory');

const MIB = 1024 * 1024;
const HEAP_MIB = 32;
/** Limit for the reader's buffers outside the heap: a few batches and read buffers. */
const BUFFERS_MIB = 64;
const RECORD_BYTES = 32 * 1024;

interface Replay {
  readonly records: number;
  readonly bytes: number;
  readonly peakMib: number;
}

/** Replays in a process whose heap is smaller than the log. */
async function replay(dir: string): Promise<Replay> {
  const replayer = fileURLToPath(new URL('./replay-process.js', import.meta.url));
  const args = [`--max-old-space-size=${HEAP_MIB}`, replayer, dir];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [records = 0, bytes = 0, peakMib = 0] = stdout.trim().split(' ').map(Number);
  return { records, bytes, peakMib };
}

async function write(dir: string, records: number): Promise<void> {
  const wal = await openWal({ dir, freeBytesSoft: 0, segmentBytes: 16 * MIB });
  const record = Buffer.alloc(RECORD_BYTES, 'x');
  for (let at = 0; at < records; at += 128) {
    const some = Array.from({ length: Math.min(128, records - at) }, () => wal.append(record));
    await Promise.all(some);
  }
  await wal.close();
}

memory('a log eight times the size of the heap is replayed within the heap and a few buffers', async () => {
  await using small = await tempDirectory();
  await using large = await tempDirectory();
  await write(small.path, 32);
  const records = (8 * HEAP_MIB * MIB) / RECORD_BYTES;
  await write(large.path, records);
  const base = await replay(small.path);
  assert.equal([base.records, base.bytes], [32, 32 * RECORD_BYTES]);
  const full = await replay(large.path);
  assert.equal([full.records, full.bytes], [records, records * RECORD_BYTES]);
  const grownMib = full.peakMib - base.peakMib;
  assert.ok(
    grownMib < HEAP_MIB + BUFFERS_MIB,
    `${8 * HEAP_MIB} MiB of log made the process grow by ${grownMib} MiB, from ${base.peakMib}`,
  );
});

memory.run();
