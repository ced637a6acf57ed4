import { decodeMark, encodeMark, type MarkRecord } from '../format/mark-record.js';
import { copyOffset, PAIR_BYTES, PAIR_FILE_BYTES, PAIR_OFFSET } from '../format/paired-record.js';
import { type Coroutine, call } from '../storage/coroutine.js';
import { readAt } from '../storage/file-operations.js';
import type { Storage, StorageFile } from '../storage/storage.js';
import { WalCorruptError } from '../wal-error.js';

/** MARK, opened for writing, with its content. */
export interface OpenMark {
  readonly file: StorageFile;
  readonly record: MarkRecord;
}

/** The whole file with one copy. */
export function encodeMarkFile(record: MarkRecord): Buffer {
  const bytes = Buffer.alloc(PAIR_FILE_BYTES);
  encodeMark(record).copy(bytes, copyOffset(record.number));
  return bytes;
}

/** Without a mark the end of the log cannot be checked: a missing or damaged one is WalCorruptError. */
export function* readMark(storage: Storage): Coroutine<MarkRecord> {
  const bytes = yield* call<number | undefined>((done) => storage.size('MARK', done));
  if (bytes === undefined) throw damaged('the file is missing');
  const pair = Buffer.alloc(PAIR_BYTES);
  const record = decodeMark(pair.subarray(0, yield* readAt(storage, 'MARK', pair, PAIR_OFFSET)));
  if (record === undefined) throw damaged('neither copy of the mark is valid');
  return record;
}

function damaged(reason: string): WalCorruptError {
  return new WalCorruptError({ file: 'MARK', offset: 0, reason });
}
