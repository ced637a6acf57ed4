import { checkOption, text } from '@troupe/core/option-check';
import { detachedSubmit, type JobDefinition, type JobInput, type SubmitOptions } from '@troupe/jobs';
import { OutboxKeyError } from '../postgres-error.js';

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

/** The options of a submit; its delay begins when the leader takes the row. */
export interface SubmitInOptions extends Omit<SubmitOptions, 'withinMs' | 'signal' | 'holdKey'> {
  /** The schema of the leader's tables. Default `troupe`. */
  readonly schema?: string | undefined;
}

/**
 * Submits a job in the transaction of the caller: it becomes one job after the commit, and none after a
 * rollback. Resolves with its key, which is a new one unless the options or the definition have one;
 * `client.openByKey(job, key)` gives the handle, when the leader has taken it.
 */
export async function submitIn<D extends JobDefinition>(
  transaction: Transaction,
  job: D,
  input: JobInput<D>,
  options: SubmitInOptions = {},
): Promise<string> {
  const { schema = 'troupe', ...given } = options;
  checkOption('submitIn: schema', schema, text(48));
  const { payload, key, ...rest } = await detachedSubmit(job, input, given);
  const rows = await run(
    transaction,
    // A key that waits in the outbox is the same job, as it is in the log, if the input is the same.
    `insert into "${schema.replaceAll('"', '""')}".outbox as waiting (key, exec, payload, options)
     values (coalesce($1, gen_random_uuid()::text), $2, $3, $4::text::jsonb)
     on conflict (key) do update set key = excluded.key
     where waiting.exec = excluded.exec and waiting.payload = excluded.payload
     returning key`,
    [key === '' ? null : key, job.exec, payload, JSON.stringify(rest)],
  );
  const [row] = rows as readonly { readonly key: string }[];
  if (row === undefined) throw new OutboxKeyError(key);
  return row.key;
}

async function run(
  transaction: Transaction,
  query: string,
  values: (string | null)[],
): Promise<readonly unknown[]> {
  if ('unsafe' in transaction) return transaction.unsafe(query, values);
  return (await transaction.query(query, values)).rows;
}
