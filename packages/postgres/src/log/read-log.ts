import type { Sql } from 'postgres';
import { decodeBatch } from './batch-codec.js';

export interface LogVisitor {
  snapshot(chunk: Uint8Array, lsn: number): void;
  entry(bytes: Uint8Array, lsn: number): void;
}

interface BatchRow {
  readonly lsn: number;
  readonly bytes: Buffer;
}

const ROWS_PER_READ = 200;

/** The latest snapshot. Resolves with its position, 0 without one. */
export async function readSnapshot(sql: Sql, visitor: LogVisitor): Promise<number> {
  const [latest] = await sql<{ lsn: number; parts: number }[]>`
    select lsn, parts from snapshot order by lsn desc limit 1`;
  if (latest === undefined) return 0;
  for (let part = 0; part < latest.parts; part += 1) {
    const [row] = await sql<{ bytes: Buffer }[]>`
      select bytes from snapshot_part where lsn = ${latest.lsn} and part = ${part}`;
    if (row === undefined) throw new Error(`snapshot ${latest.lsn} lacks its part ${part}`);
    visitor.snapshot(row.bytes, latest.lsn);
  }
  return latest.lsn;
}

/**
 * The entries behind `after`, up to and including `last`. Resolves with the last position that was read: less
 * than `last` only if the log has a hole.
 */
export async function readEntries(
  sql: Sql,
  after: number,
  last: number,
  visitor: LogVisitor,
): Promise<number> {
  let read = after;
  while (read < last) {
    // A snapshot may end in the middle of no batch: it is made of whole ones.
    const rows = await sql<BatchRow[]>`
      select lsn, bytes from batch where lsn > ${read} and lsn <= ${last} order by lsn limit ${ROWS_PER_READ}`;
    if (rows.length === 0) return read;
    for (const { lsn, bytes } of rows) {
      if (lsn !== read + 1) return read;
      for (const entry of decodeBatch(bytes)) {
        read += 1;
        visitor.entry(entry, read);
      }
    }
  }
  return read;
}
