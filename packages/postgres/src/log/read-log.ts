import { createHash } from 'node:crypto';
import type { Sql } from 'postgres';
import { PostgresLogShortError } from '../postgres-error.js';
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

/** How far a log was read. `readEntries` moves it. */
export interface LogTail {
  lsn: number;
  /** The last batch: its position, and the digest of its bytes. */
  batch: { readonly lsn: number; readonly md5: string } | undefined;
}

/**
 * The entries behind `tail`, up to and including `last`. Afterwards the tail is at `last`, or before it only
 * if the log has a hole.
 */
export async function readEntries(sql: Sql, last: number, visitor: LogVisitor, tail: LogTail): Promise<void> {
  while (tail.lsn < last) {
    // A snapshot may end in the middle of no batch: it is made of whole ones.
    const rows = await sql<BatchRow[]>`
      select lsn, bytes from batch where lsn > ${tail.lsn} and lsn <= ${last} order by lsn limit ${ROWS_PER_READ}`;
    if (rows.length === 0) return;
    for (const { lsn, bytes } of rows) {
      if (lsn !== tail.lsn + 1) return;
      for (const entry of decodeBatch(bytes)) {
        tail.lsn += 1;
        visitor.entry(entry, tail.lsn);
      }
    }
    const { lsn, bytes } = rows.at(-1) as BatchRow; // there is one
    tail.batch = { lsn, md5: createHash('md5').update(bytes).digest('hex') };
  }
}

/**
 * A server that was promoted without the end of the log may have other records at the same positions. One
 * whose batch was removed has a later snapshot, which is not compared.
 */
export async function assertSameTail(sql: Sql, { batch }: LogTail): Promise<void> {
  if (batch === undefined) return;
  const [row] = await sql<{ md5: string }[]>`select md5(bytes) as md5 from batch where lsn = ${batch.lsn}`;
  if (row !== undefined && row.md5 !== batch.md5) throw new PostgresLogShortError(batch.lsn - 1, batch.lsn);
}
