// A payload too large for a batch, compared with a plain durable write.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openWal } from '@troupe/wal';
import type { Case, Trial } from '../../runner/suite.js';
import { RawFile } from './raw-file.js';
import { tempFolder } from './temp-folder.js';

export function largePayload(mebibytes: number): Case {
  return {
    benchmark: `payload${mebibytes}MiB`,
    unit: 'MiB',
    group: 'append',
    systems: ['troupe', 'floor'],
    note: 'troupe: appended as a blob, with SHA-256 and the record that refers to it; floor: write + fdatasync of the same bytes to a new file',
    prepare: ({ system }) => (system === 'troupe' ? troupePayload(mebibytes) : rawPayload(mebibytes)),
  };
}

async function troupePayload(mebibytes: number): Promise<Trial> {
  const folder = tempFolder();
  const wal = await openWal({ dir: folder.path, freeBytesSoft: 0 });
  const payload = Buffer.alloc(mebibytes * 1_048_576, 65);
  let runs = 0;
  return {
    async run() {
      runs += 1;
      payload.writeUInt32LE(runs, 0);
      const started = performance.now();
      await wal.append(payload);
      const seconds = (performance.now() - started) / 1_000;
      rmSync(join(folder.path, 'blobs'), { recursive: true });
      mkdirSync(join(folder.path, 'blobs'));
      return { attempted: mebibytes, completed: mebibytes, seconds };
    },
    async close() {
      await wal.close();
      folder.remove();
    },
  };
}

function rawPayload(mebibytes: number): Trial {
  const folder = tempFolder();
  const payload = Buffer.alloc(mebibytes * 1_048_576, 65);
  return {
    async run() {
      const path = join(folder.path, 'raw');
      rmSync(path, { force: true });
      const file = new RawFile(path, 'grow', 0);
      const started = performance.now();
      await file.append(payload);
      const seconds = (performance.now() - started) / 1_000;
      file.close();
      return { attempted: mebibytes, completed: mebibytes, seconds };
    },
    close: () => folder.remove(),
  };
}
