import type { CodecName } from '@troupe/wal';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { LedgerRecord } from '../ledger-record.js';
import { lineOfRecord } from '../lines/record-line.js';
import { encodeRecord } from './ledger-record-codec.js';

/** More than any entry of a leader: a payload at its limit, or a whole batch, with its framing. */
export const ENTRY_BYTES_MAX = 12 * 1024 * 1024 - 4_096;

/**
 * One record as JSON text, which is an entry of its own. A record whose text would not fit into an entry, such
 * as a result of 11 MiB that is not JSON, is written in its binary form.
 */
export function encodeRecordLine(record: LedgerRecord, out: ByteWriter): void {
  const line = JSON.stringify(lineOfRecord(record));
  if (Buffer.byteLength(line) <= ENTRY_BYTES_MAX) out.textAlone(line);
  else encodeRecord(record, out);
}

/** One record, as the entries of a log with this codec are. */
export function encodeEntry(record: LedgerRecord, codec: CodecName, out: ByteWriter): void {
  if (codec === 'jsonl') encodeRecordLine(record, out);
  else encodeRecord(record, out);
}
