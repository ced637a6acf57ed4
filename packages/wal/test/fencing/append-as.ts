// A process that appends `<name> <n>` until it is ended, and prints each record that is acknowledged.
// Arguments: directory, name.

import { writeSync } from 'node:fs';
import { openWal, WalError } from '@troupe/wal';

const [dir = '', name = ''] = process.argv.slice(2);

try {
  const wal = await openWal({
    dir,
    segmentBytes: 1024 * 1024,
    firstSegmentBytes: 256 * 1024,
    freeBytesSoft: 0,
    onEvent: (event) => writeSync(1, `event ${event.kind}\n`),
    onFatal: (error) => writeSync(2, `${error.code} ${error.message}\n`),
  });
  writeSync(1, 'ready\n');
  for (let count = 1; ; count += 1) {
    const text = `${name} ${count}`;
    const lsn = await wal.append(Buffer.from(text));
    writeSync(1, `acked ${lsn} ${text}\n`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
} catch (error) {
  if (!(error instanceof WalError)) throw error;
  writeSync(2, `${error.code} ${error.message}\n`);
  process.exit(error.exitCode ?? 70);
}
