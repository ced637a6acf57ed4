import { type DumpedEntry, type DumpOptions, dumpWal, type Storage } from '@troupe/wal';
import { decodeRecords, type SkippedRecord } from '../ledger/codec/ledger-record-codec.js';
import { loadChunk } from '../ledger/codec/ledger-snapshot-codec.js';
import { Ledger } from '../ledger/ledger.js';
import { bytes, type LedgerLine } from '../ledger/lines/line-field.js';
import { lineOfRecord } from '../ledger/lines/record-line.js';
import { stateLines } from '../ledger/lines/state-line.js';

export type LedgerDumpOptions = Pick<DumpOptions, 'from' | 'to'>;

/** A damaged place of the log. */
export type DumpedDamage = Extract<DumpedEntry, { readonly kind: 'damage' }>;

/**
 * Visits every record of a leader's folder as the object of its line, with the LSN of its entry. Where the
 * first records are in a snapshot only, and all are wanted, lines of the state come before those after it.
 */
export async function dumpLedger(
  dir: string | Storage,
  visit: (line: LedgerLine | DumpedDamage) => void,
  options: LedgerDumpOptions = {},
): Promise<void> {
  const isWhole = options.from === undefined && options.to === undefined;
  // The state at the beginning of the log, until its first other record.
  let state = isWhole ? new Ledger() : undefined;
  let stateLsn = 0;
  const endState = (): void => {
    if (state === undefined) return;
    if (state.tag !== '') for (const line of stateLines(state)) visit({ lsn: stateLsn, ...line });
    state = undefined;
  };
  const visitEntry = (entry: DumpedEntry): void => {
    if (entry.kind === 'damage') return visit(entry);
    if (entry.kind === 'state') {
      if (state !== undefined) loadChunk(state, entry.chunk);
      stateLsn = entry.lsn;
      return;
    }
    const { lsn, payload } = entry;
    decodeRecords(
      payload,
      (record) => {
        if (record.type === 'state' && state !== undefined) {
          stateLsn = lsn;
          state.apply(record);
          return;
        }
        endState();
        visit({ lsn, ...lineOfRecord(record) });
      },
      (record) => {
        endState();
        visit({ lsn, ...skippedLine(record) });
      },
    );
  };
  await dumpWal(dir, visitEntry, { ...options, withState: isWhole });
  endState();
}

/** A record that this version does not know is printed so that it can be loaded as it is. */
function skippedLine(record: SkippedRecord): LedgerLine {
  if (!('head' in record)) return record;
  const line: LedgerLine = { type: 'unknown', optional: true, head: record.head };
  bytes.write(line, 'content', record.content as Uint8Array);
  return line;
}
