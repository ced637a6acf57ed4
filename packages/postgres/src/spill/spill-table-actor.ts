import { type Actor, defineActor, type Host } from '@troupe/core';
import { JournalDeposedError, type SpillRead, type SpillWrite } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import { KeptConnection } from '../log/kept-connection.js';
import { arrayLiteral, type DatabaseOptions } from '../log/log-database.js';
import { isTransient } from '../log/transient-error.js';

interface SpillTableArgs {
  readonly database: DatabaseOptions;
  readonly leaseId: number;
  readonly host: Pick<Host, 'setTimer'>;
}

interface SpillTableProtocol {
  write(write: SpillWrite): void;
  read(read: SpillRead): void;
  remove(files: readonly number[]): void;
}

const RETRY_MS = 100;
const NO_BYTES = new Uint8Array(0);

class SpillTableState {
  readonly args: SpillTableArgs;
  /** Commits of chunks that need not be durable wait for no disk. */
  readonly connections: { readonly durable: KeptConnection; readonly quick: KeptConnection };
  /** Its leader ends, too: no message may follow. */
  isEnded = false;

  constructor(args: SpillTableArgs) {
    this.args = args;
    const { database } = args;
    this.connections = {
      durable: new KeptConnection(database),
      quick: new KeptConnection(database, { synchronousCommit: 'off' }),
    };
  }
}

/** The rows of a spill as an actor, a child of the leader. */
export const SpillTableActor: Actor<SpillTableProtocol, SpillTableArgs> =
  defineActor.of<SpillTableProtocol>()('postgres-spill', {
    state: (args: SpillTableArgs) => new SpillTableState(args),
    handlers: {
      write({ state }, write) {
        const { to, isDurable } = write;
        const answer = (error: Error | null): void => {
          if (!state.isEnded) to.tell.spillWritten({ error });
        };
        const { durable, quick } = state.connections;
        persistently(state, () =>
          isDurable ? writeFenced(durable.sql, state.args.leaseId, write) : writeRow(quick.sql, write),
        ).then(() => answer(null), answer);
      },
      read({ state }, read) {
        const { to, number } = read;
        const answer = (error: Error | null, bytes: Uint8Array): void => {
          if (!state.isEnded) to.tell.spillLoaded({ number, error, bytes });
        };
        persistently(state, () => readRows(state.connections.quick.sql, read)).then(
          (bytes) => answer(null, bytes),
          (error: Error) => answer(error, NO_BYTES),
        );
      },
      remove({ state }, files) {
        state.connections.quick
          .sql`delete from spill where file = any (${arrayLiteral(files)}::bigint[])`.catch(ignoreError);
      },
    },
    async stopped({ state }) {
      state.isEnded = true;
      const { durable, quick } = state.connections;
      await Promise.all([durable.end(), quick.end()]);
    },
    // The leader has one write under way, a bounded number of reads, and few removals.
    mailbox: { capacity: 1_024, overflow: 'mute-sender' },
  });

/** A statement may be repeated: it writes the same row again. */
async function persistently<T>(state: SpillTableState, run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (state.isEnded || !isTransient(error)) throw error;
    }
    await new Promise<void>((resolve) => state.args.host.setTimer(RETRY_MS, resolve));
  }
}

async function writeRow(sql: Sql, { file, position, bytes }: SpillWrite): Promise<void> {
  await sql`
    insert into spill (file, position, bytes) values (${file}, ${position}, ${Buffer.from(bytes)})
    on conflict (file, position) do update set bytes = excluded.bytes`;
}

/** A take-over waits for the lock of the lease, and finds the row; behind it no row of this leader comes. */
async function writeFenced(sql: Sql, leaseId: number, { file, position, bytes }: SpillWrite): Promise<void> {
  const written = await sql`
    with held as (select from lease where id = ${leaseId} for share)
    insert into spill (file, position, bytes) select ${file}, ${position}, ${Buffer.from(bytes)} from held
    on conflict (file, position) do update set bytes = excluded.bytes`;
  if (written.count === 0) throw new JournalDeposedError('chunks of a stream: another leader has the log');
}

/** A read may begin and end inside rows. */
async function readRows(sql: Sql, { file, position, length }: SpillRead): Promise<Uint8Array> {
  const rows = await sql<{ position: number; bytes: Buffer }[]>`
    select position, bytes from spill
    where file = ${file} and position < ${position + length} and position >= (
      select coalesce(max(position), 0) from spill where file = ${file} and position <= ${position})
    order by position`;
  const from = position - (rows[0]?.position ?? position);
  return Buffer.concat(rows.map(({ bytes }) => bytes)).subarray(from, from + length);
}

/** No record names the file, so the next opening removes it. */
function ignoreError(): void {
  // It stays until then.
}
