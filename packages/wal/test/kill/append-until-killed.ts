// A process that opens a directory, checks every record, then appends until it is killed. Prints
// "ready <last lsn>" once and "acked <lsn>" for durable records, synchronously, so that no line is lost.

import { writeSync } from 'node:fs';
import { openWal } from '@troupe/wal';
import { payloadFor, sequenceCheckFold } from './sequence-check-fold.js';

const WINDOW = 64;

const [dir = ''] = process.argv.slice(2);
const wal = await openWal({
  dir,
  segmentBytes: 256 * 1024,
  firstSegmentBytes: 64 * 1024,
  inlineBytesMax: 8_192,
  freeBytesSoft: 0,
  fold: { module: new URL('./sequence-check-fold.js', import.meta.url).href, export: 'sequenceCheckFold' },
  snapshotEveryBytes: 512 * 1024,
});
// The fold throws for a missing, repeated or wrong record.
const state = await wal.restore(sequenceCheckFold);
writeSync(1, `ready ${state.lastLsn}\n`);

let acked = 0;
let announced = false;
function onDurable(error: Error | null, lsn: number): void {
  if (error !== null) throw error;
  acked = lsn;
  if (!announced) {
    announced = true;
    queueMicrotask(() => {
      announced = false;
      writeSync(1, `acked ${acked}\n`);
    });
  }
  send();
}

function send(): void {
  const { log } = wal;
  // Now and then a payload that becomes a blob.
  if (log.nextLsn % 977 === 0) void wal.append(Buffer.alloc(9_000, log.nextLsn % 251), { type: 1 });
  else log.append(payloadFor(log.nextLsn), onDurable);
}

for (let index = 0; index < WINDOW; index += 1) send();
setInterval(() => send(), 1);
