// Opens a directory, replays it and prints the totals and the peak memory: "<records> <bytes> <MiB>".

import { type Fold, openWal } from '@troupe/wal';

interface Sum {
  records: number;
  bytes: number;
}

const summing: Fold<Sum> = {
  empty: () => ({ records: 0, bytes: 0 }),
  apply(sum, _lsn, payload) {
    sum.records += 1;
    sum.bytes += payload.length;
  },
  *save(sum) {
    yield Buffer.from(JSON.stringify(sum));
  },
  restore(sum, chunk) {
    Object.assign(sum, JSON.parse(chunk.toString()));
  },
};

const [dir = ''] = process.argv.slice(2);
const wal = await openWal({ dir, freeBytesSoft: 0 });
const { records, bytes } = await wal.restore(summing);
await wal.close();
process.stdout.write(`${records} ${bytes} ${Math.round(process.resourceUsage().maxRSS / 1024)}\n`);
