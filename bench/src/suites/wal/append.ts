// Durable appends in batches of one size, one batch after another.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Log, openWal } from '@troupe/wal';
import type { Case, Measurement, Trial } from '../../runner/suite.js';
import { quantile } from '../../stats/quantile.js';
import { paddedBytes, RawFile, type WriteMode } from './raw-file.js';
import { tempFolder } from './temp-folder.js';

const RECORD_BYTES = 200;
const WRITE_MODES: Readonly<Record<string, WriteMode>> = {
  floor: 'grow',
  prewritten: 'prewritten',
  dsync: 'dsync',
};

/** `size` records per batch, one batch after another; a latency is that of a whole batch. */
export function appendInBatches(size: number, batchesAtScale: number): Case {
  return {
    benchmark: `append${size}`,
    unit: 'records',
    group: 'append',
    systems: ['troupe', ...Object.keys(WRITE_MODES)],
    note: 'floor: asynchronous write + fdatasync of the same padded bytes to a growing file; prewritten: into a file whose zeros were written before the clock started; dsync: synchronous O_DSYNC write there, blocking the loop',
    prepare(context) {
      const batches = Math.max(20, Math.round(batchesAtScale * context.scale));
      const mode = WRITE_MODES[context.system];
      return mode === undefined ? troupeBatches(size, batches) : rawBatches(mode, size, batches);
    },
  };
}

/** Batches of one record, compared by latency. */
export function appendOne(batchesAtScale: number): Case {
  return { ...appendInBatches(1, batchesAtScale), benchmark: 'appendLatency', headline: 'p50' };
}

async function troupeBatches(size: number, batches: number): Promise<Trial> {
  const folder = tempFolder();
  const wal = await openWal({ dir: folder.path, freeBytesSoft: 0 });
  const payload = Buffer.alloc(RECORD_BYTES, 65);
  return {
    async run() {
      const before = wal.status();
      const measured = await timeBatches(batches, size, () => appendBatch(wal.log, payload, size));
      const syncs = wal.status().batches - before.batches;
      await wal.trim(wal.log.durableLsn);
      return { ...measured, extra: { syncsPerSecond: syncs / measured.seconds } };
    },
    async close() {
      await wal.close();
      folder.remove();
    },
  };
}

function appendBatch(log: Log, payload: Buffer, size: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = size;
    const done = (error: Error | null): void => {
      left -= 1;
      if (error !== null) reject(error);
      else if (left === 0) resolve();
    };
    for (let index = 0; index < size; index += 1) {
      if (log.append(payload, done) <= 0) reject(new Error('the log rejected a record'));
    }
  });
}

function rawBatches(mode: WriteMode, size: number, batches: number): Trial {
  const folder = tempFolder();
  const bytes = Buffer.alloc(paddedBytes(size, RECORD_BYTES), 65);
  return {
    async run() {
      const path = join(folder.path, 'raw');
      rmSync(path, { force: true });
      const file = new RawFile(path, mode, bytes.length * batches);
      const measured = await timeBatches(batches, size, () => file.append(bytes));
      file.close();
      return { ...measured, extra: { syncsPerSecond: batches / measured.seconds } };
    },
    close: () => folder.remove(),
  };
}

async function timeBatches(batches: number, size: number, append: () => Promise<void>): Promise<Measurement> {
  const latencies = new Float64Array(batches);
  const started = performance.now();
  for (let index = 0; index < batches; index += 1) {
    const batchStarted = performance.now();
    await append();
    latencies[index] = performance.now() - batchStarted;
  }
  const seconds = (performance.now() - started) / 1_000;
  const sorted = [...latencies.sort()];
  const records = batches * size;
  const p50 = quantile(sorted, 0.5);
  const p99 = quantile(sorted, 0.99);
  return { attempted: records, completed: records, seconds, p50, p99 };
}
