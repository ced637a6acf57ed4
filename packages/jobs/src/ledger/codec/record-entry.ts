import type { CodecName } from '@troupe/wal';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { LedgerRecord } from '../ledger-record.js';
import { lineOfRecord } from '../lines/record-line.js';
import { encodeRecord } from './ledger-record-codec.js';

/** More than any entry of a leader: a payload at its limit, or a whole batch, with its framing. */
export const ENTRY_BYTES_MAX = 12 * 1024 * 1024 - 4_096;

/**
 * One record as an entry of a log with this codec. In lines it is one JSON text. A record whose text would
 * not fit into an entry, such as a result of 11 MiB that is not JSON, is in binary form there too.
 */
export function encodeEntry(
  record: LedgerRecord,
  codec: CodecName,
  out: ByteWriter,
  entryBytesMax: number = ENTRY_BYTES_MAX,
): void {
  if (codec === 'binary') return encodeRecord(record, out);
  const line = JSON.stringify(lineOfRecord(record));
  if (Buffer.byteLength(line) <= entryBytesMax) out.textAlone(line);
  else encodeRecord(record, out);
}
