// Replay of a whole log, and opening with a snapshot and a log after it.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openWal, type PromiseLog } from '@troupe/wal';
import type { Case, Trial } from '../../runner/suite.js';
import { ASSIGN, ENQUEUE, jobsFold } from './jobs-fold.js';
import { type TempFolder, tempFolder } from './temp-folder.js';

const RECORD_BYTES = 200;
const RECORDS_PER_APPEND = 500;

export function replay(recordsAtScale: number): Case {
  return {
    benchmark: 'replay',
    unit: 'records',
    group: 'replay',
    systems: ['troupe', 'floor'],
    note: 'floor: synchronous reads of the same files, one CRC per batch, one view per record',
    repeat: { budgetMs: 4_000 },
    async prepare({ system, scale }) {
      const records = Math.max(10_000, Math.round(recordsAtScale * scale));
      const folder = tempFolder();
      const wal = await openWal({ dir: folder.path, freeBytesSoft: 0 });
      await appendRecords(wal, records, 0);
      return system === 'troupe' ? troupeReplay(wal, folder, records) : rawReplay(wal, folder, records);
    },
  };
}

async function appendRecords(wal: PromiseLog, records: number, type: number): Promise<void> {
  const payload = Buffer.alloc(RECORD_BYTES, 65);
  const pending: Promise<number>[] = [];
  for (let index = 0; index < records; index += RECORDS_PER_APPEND) {
    const group = Array.from({ length: Math.min(RECORDS_PER_APPEND, records - index) }, (_, offset) => {
      const record = Buffer.from(payload);
      record.writeUInt32LE(index + offset, 0);
      return record;
    });
    pending.push(wal.append(group, { type }));
    if (pending.length >= 20) await Promise.all(pending.splice(0));
  }
  await Promise.all(pending);
}

function troupeReplay(wal: PromiseLog, folder: TempFolder, records: number): Trial {
  return {
    async run() {
      let seen = 0;
      let sum = 0;
      const started = performance.now();
      await wal.replay((_lsn, payload) => {
        seen += 1;
        sum += payload.length;
      });
      const seconds = (performance.now() - started) / 1_000;
      return { attempted: records, completed: seen, seconds, oracle: sum === records * RECORD_BYTES };
    },
    async close() {
      await wal.close();
      folder.remove();
    },
  };
}

async function rawReplay(wal: PromiseLog, folder: TempFolder, records: number): Promise<Trial> {
  await wal.close();
  const names = readdirSync(folder.path)
    .filter((name) => name.endsWith('.seg'))
    .sort();
  const files = names.map((name) => join(folder.path, name));
  const buffer = Buffer.alloc(Math.max(...files.map((file) => statSync(file).size)));
  return {
    async run() {
      let seen = 0;
      let sum = 0;
      const started = performance.now();
      for (const file of files) {
        readRecords(file, buffer, (payload) => {
          seen += 1;
          sum += payload.length;
        });
      }
      const seconds = (performance.now() - started) / 1_000;
      return { attempted: records, completed: seen, seconds, oracle: sum === records * RECORD_BYTES };
    },
    close: () => folder.remove(),
  };
}

const HEADER_BYTES = 44;
const PAGE_BYTES = 4_096;

/** A minimal reader of the segment format, which checks the checksums only. */
function readRecords(path: string, buffer: Buffer, visit: (payload: Buffer) => void): void {
  const fd = openSync(path, 'r');
  const bytes = buffer.subarray(0, statSync(path).size);
  for (let at = 0; at < bytes.length; at += 1_048_576)
    readSync(fd, bytes, at, Math.min(1_048_576, bytes.length - at), at);
  closeSync(fd);
  for (let at = PAGE_BYTES; at + HEADER_BYTES < bytes.length; ) {
    if (bytes.readUInt32LE(at) === 0) return;
    const end = at + HEADER_BYTES + bytes.readUInt32LE(at + 4);
    const crc = crc32(bytes.subarray(at + HEADER_BYTES, end), bytes.readUInt32LE(at + 40));
    if (crc !== bytes.readUInt32LE(end)) throw new Error(`wrong CRC at ${at} of ${path}`);
    for (let record = at + HEADER_BYTES; record < end; ) {
      const next = record + 8 + bytes.readUInt32LE(record);
      visit(bytes.subarray(record + 8, next));
      record = next;
    }
    at = Math.ceil((end + 4) / PAGE_BYTES) * PAGE_BYTES;
  }
}

/** Opening, loading a snapshot of a million jobs, and folding a million events after it. */
export function openWithSnapshot(jobsAtScale: number): Case {
  return {
    benchmark: 'openWithSnapshot',
    unit: 'events',
    group: 'replay',
    systems: ['troupe'],
    note: 'a million jobs in the snapshot, a million events after it: lock, verify, load, replay',
    repeat: { warmups: 1, iterations: 3, budgetMs: 20_000 },
    timeoutMs: 300_000,
    async prepare({ scale }) {
      const jobs = Math.max(10_000, Math.round(jobsAtScale * scale));
      const folder = tempFolder();
      const fold = { module: new URL('./jobs-fold.js', import.meta.url).href, export: 'jobsFold' };
      const options = { dir: folder.path, freeBytesSoft: 0, fold, snapshotEveryBytes: 0 };
      const wal = await openWal(options);
      await appendRecords(wal, jobs, ENQUEUE);
      await wal.snapshot();
      await appendRecords(wal, jobs, ASSIGN);
      await wal.close();
      return {
        async run() {
          const rssBefore = process.memoryUsage().rss;
          const started = performance.now();
          const reopened = await openWal(options);
          const state = await reopened.restore(jobsFold);
          const seconds = (performance.now() - started) / 1_000;
          const rssGrown = process.memoryUsage().rss - rssBefore;
          await reopened.close();
          const oracle = state.payloads.size === jobs;
          return {
            attempted: jobs,
            completed: state.events,
            seconds,
            oracle,
            extra: { rssGrownBytes: rssGrown },
          };
        },
        close: () => folder.remove(),
      };
    },
  };
}
