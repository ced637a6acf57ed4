import { checkOptions, number, text } from '@troupe/core/option-check';
import { type JobDefinition, type JobInput, validateJobInput } from '@troupe/jobs';

/** A transaction of `postgres`: its tag has a function for plain texts. */
interface PostgresTransaction {
  unsafe(query: string, values: (string | null)[]): PromiseLike<readonly unknown[]>;
}

/** A client of `pg`, inside `begin` and `commit`. */
interface PgTransaction {
  query(query: string, values: (string | null)[]): PromiseLike<{ readonly rows: readonly unknown[] }>;
}

/** A transaction of the caller, of `postgres`, `pg` or anything of their shape. */
export type Transaction = PostgresTransaction | PgTransaction;

export interface SubmitInOptions {
  /** The idempotency key of the job. Default: a new one. */
  readonly key?: string | undefined;
  /** Not before this many milliseconds after the leader has taken the row. Default 0. */
  readonly runAfterMs?: number | undefined;
  /** The schema of the leader's tables. Default `troupe`. */
  readonly schema?: string | undefined;
}

const YEAR_MS = 366 * 24 * 3_600_000;
const OPTIONS = { key: text(512), runAfterMs: number(0, YEAR_MS), schema: text(48) };

/**
 * Submits a job in the transaction of the caller: it becomes one job after the commit, and none after a
 * rollback. Resolves with its key; `client.openByKey(job, key)` gives the handle, when the leader has taken
 * it.
 */
export async function submitIn<D extends JobDefinition>(
  transaction: Transaction,
  job: D,
  input: JobInput<D>,
  options: SubmitInOptions = {},
): Promise<string> {
  checkOptions('submitIn', options, OPTIONS);
  const { key = null, runAfterMs = 0, schema = 'troupe' } = options;
  const payload = JSON.stringify(await validateJobInput(job, input));
  const rows = await run(
    transaction,
    `insert into "${schema.replaceAll('"', '""')}".outbox (key, exec, payload, options)
     values (coalesce($1, gen_random_uuid()::text), $2, $3, $4::text::jsonb) returning key`,
    [key, job.exec, payload, JSON.stringify({ runAfterMs, policy: job.policy })],
  );
  return (rows[0] as { key: string }).key; // `returning` of one inserted row
}

async function run(
  transaction: Transaction,
  query: string,
  values: (string | null)[],
): Promise<readonly unknown[]> {
  if ('unsafe' in transaction) return transaction.unsafe(query, values);
  return (await transaction.query(query, values)).rows;
}
