import { submitIn } from '@troupe/postgres';
import postgres, { type TransactionSql } from 'postgres';
import type { Measurement, Trial } from '../../runner/suite.js';
import { firstMessage, stopProcess } from '../jobs/child-processes.js';
import { digest } from '../jobs/job-definitions.js';
import type { Payload } from '../jobs/payload.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { DatabaseServers } from './database-servers.js';
import { forkLeader } from './database-system.js';

const CONNECTIONS = 8;
/** Transactions of one side before the other one's turn. */
const TURN = 400;

type Insert = (tx: TransactionSql, payload: Payload) => Promise<unknown>;

/**
 * Transactions that insert an order and submit a job, in turns with transactions that insert the same bytes into a
 * table of their own. The tables are those that a leader made; it has ended, so that no relay takes part.
 */
export async function submitInTrial(system: string, transactions: number): Promise<Trial> {
  const servers = await DatabaseServers.start();
  const leader = forkLeader(servers.url, 0, 'bench');
  await firstMessage(leader);
  await stopProcess(leader);
  const sql = postgres(servers.url, { max: CONNECTIONS });
  await sql`create table orders (id bigint generated always as identity primary key, note text)`;
  await sql`create table bare (
    id bigint generated always as identity primary key, key text, exec text, payload text, options jsonb)`;
  const payloads = new PayloadSource(100);
  const options = JSON.stringify({ runAfterMs: 0, policy: digest.policy });
  const inserts: Readonly<Record<string, Insert>> = {
    troupe: (tx, payload) => submitIn(tx, digest, payload),
    'bare-insert': (tx, payload) =>
      tx.unsafe('insert into bare (key, exec, payload, options) values ($1, $2, $3, $4::text::jsonb)', [
        crypto.randomUUID(),
        digest.exec,
        JSON.stringify(payload),
        options,
      ]),
  };
  const turn = async (insert: Insert): Promise<number> => {
    const startedAt = performance.now();
    let left = TURN;
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await sql.begin(async (tx) => {
          await tx`insert into orders (note) values ('an order')`;
          await insert(tx, payloads.next());
        });
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, caller));
    return performance.now() - startedAt;
  };
  return {
    async run(): Promise<Measurement> {
      const before = await rowsOf(sql, system);
      const turns = Math.ceil(transactions / TURN);
      const ms: Record<string, number> = { troupe: 0, 'bare-insert': 0 };
      for (let at = 0; at < turns; at += 1)
        for (const name of at % 2 === 0 ? SIDES : [...SIDES].reverse())
          ms[name] = (ms[name] ?? 0) + (await turn(inserts[name] as Insert)); // both are there
      const measured = {
        attempted: turns * TURN,
        completed: (await rowsOf(sql, system)) - before,
        seconds: (ms[system] ?? 0) / 1_000,
      };
      if (system === 'troupe') return measured;
      return { ...measured, pairedRatio: (ms[system] ?? 0) / (ms['troupe'] ?? 0) };
    },
    async close() {
      await sql.end();
      await servers[Symbol.asyncDispose]();
    },
  };
}

export const SIDES: readonly string[] = ['troupe', 'bare-insert'];

async function rowsOf(sql: postgres.Sql, system: string): Promise<number> {
  const table = system === 'troupe' ? sql`troupe.outbox` : sql`bare`;
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from ${table}`;
  return row?.count ?? 0;
}
