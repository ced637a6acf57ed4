import {
  CallUnsupportedError,
  type Client,
  type DetachedSubmit,
  defineJob,
  type JobDefinition,
  JobDefinitionError,
  type JobPolicy,
  JobsError,
  type SubmitOptions,
} from '@troupe/jobs';
import { KeptConnection } from '../log/kept-connection.js';
import { arrayLiteral, type DatabaseOptions } from '../log/log-database.js';
import type { OpenPostgresJournal } from '../postgres-journal.js';
import { migrate } from '../schema/migrations.js';

/** Rows of one look; their submits are under way together. */
const ROWS_MAX = 500;
/** The delay from a commit to its submit. */
const POLL_MS = 50;
/** After an error of the database or of the leader. */
const RETRY_MS = 1_000;
/** Definitions that are announced; beyond it the table begins anew. */
const DEFINITIONS_MAX = 1_000;

/** The worker checks the input. */
const ANY = {
  '~standard': { version: 1, vendor: 'troupe', validate: (value: unknown) => ({ value }) },
} as const;
const ANY_VALUES = { input: ANY, output: ANY };

interface OutboxRow {
  readonly id: number;
  readonly key: string;
  readonly exec: string;
  readonly payload: string;
  readonly options: RowOptions;
  /** Its job is durable. */
  readonly taken: boolean;
}

/** Of a row by `submitIn`, those of a detached submit; another one has the fields that it needs. */
type RowOptions = Partial<Omit<DetachedSubmit, 'key' | 'payload'>> &
  Pick<SubmitOptions, 'priority' | 'startWithinMs' | 'requires'>;

export interface OutboxRelayOptions extends DatabaseOptions {
  /** The leader that takes the jobs. It stays open when the relay closes. */
  readonly client: Client;
  /**
   * The journal of that leader, where it is in this process and in this database: a row is deleted in the
   * transaction that appends its job. Default: it is deleted after its receipt.
   */
  readonly journal?: OpenPostgresJournal | undefined;
  /** Called when a row cannot become a job: it stays, and the rows behind it go on. */
  readonly onRefused?:
    | ((row: { readonly key: string; readonly exec: string }, error: Error) => void)
    | undefined;
}

/**
 * Turns rows of the outbox into jobs: each is submitted under its key, and deleted with the append of its job
 * or when its receipt is there. A relay that ends before it submits the row again, and the key makes one job
 * of both: without the journal the leader holds it until the row is marked as taken. Rows are taken and
 * deleted, never counted: they commit in another order than their numbers.
 */
export class OutboxRelay implements AsyncDisposable {
  private readonly options: OutboxRelayOptions;
  private readonly connection: KeptConnection;
  private readonly definitions = new Map<string, JobDefinition>();
  private isClosed = false;
  private readonly running: Promise<void>;
  private wake: () => void = () => undefined;
  /** Rows that were refused for good; they are not looked at again by this relay. */
  private readonly refused = new Set<number>();

  private constructor(options: OutboxRelayOptions, connection: KeptConnection) {
    this.options = options;
    this.connection = connection;
    options.journal?.rows.ofClient(options.client.token);
    this.running = this.run();
  }

  static async start(options: OutboxRelayOptions): Promise<OutboxRelay> {
    const { url, schema } = options;
    const connection = new KeptConnection({ url, schema });
    try {
      await migrate(connection.sql, schema);
    } catch (error) {
      await connection.end();
      throw error;
    }
    return new OutboxRelay(options, connection);
  }

  /** Ends after the rows that it has taken. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.wake();
    await this.running;
    await this.connection.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      const waitMs = await this.relay().then(
        (count) => (count === ROWS_MAX ? 0 : POLL_MS),
        () => RETRY_MS,
      );
      if (waitMs > 0 && !this.isClosed) await this.pause(waitMs);
    }
  }

  /** One look at the outbox. Resolves with the number of rows that it found. */
  private async relay(): Promise<number> {
    const rows = await this.connection.sql<OutboxRow[]>`
      select id, key, exec, payload, options, taken from outbox
      where id <> all (${arrayLiteral(this.refused)}::bigint[]) order by id limit ${ROWS_MAX}`;
    if (rows.length === 0) return 0;
    const durable: OutboxRow[] = [];
    const waiting = rows.filter(({ taken }) => !taken);
    await Promise.all(lanesOf(waiting).map((lane) => this.submitLane(lane, durable)));
    if (this.options.journal === undefined) await this.mark(durable);
    const ended = [...rows.filter(({ taken }) => taken), ...durable];
    await this.release(ended);
    if (ended.length > 0)
      await this.connection.sql`delete from outbox where id = any (${idsOf(ended)}::bigint[])`;
    return rows.length;
  }

  /** From its commit on these rows are not submitted again, so that their keys need not be kept. */
  private async mark(durable: readonly OutboxRow[]): Promise<void> {
    if (durable.length === 0) return;
    await this.connection.sql`update outbox set taken = true where id = any (${idsOf(durable)}::bigint[])`;
  }

  /** Rows of a journal hold no keys: they are deleted with the appends of their jobs. */
  private async release(ended: readonly OutboxRow[]): Promise<void> {
    const byExec = new Map<string, OutboxRow[]>();
    for (const row of ended) byExec.set(row.exec, [...(byExec.get(row.exec) ?? []), row]);
    for (const [exec, rows] of byExec) {
      const job = this.definitionOf(exec, rows[0]?.options.policy);
      const keys = rows.map(({ key }) => key);
      await this.options.client.releaseKeys(job, keys).catch((error: unknown) => {
        // A leader of a version without held keys has none to release.
        if (!(error instanceof CallUnsupportedError)) throw error;
      });
    }
  }

  /** Of one order key a row is submitted once the row before it has its receipt, or was refused for good. */
  private async submitLane(lane: readonly OutboxRow[], durable: OutboxRow[]): Promise<void> {
    for (const row of lane) {
      try {
        const { isDeleted } = await this.submit(row);
        if (!isDeleted) durable.push(row);
      } catch (error) {
        if (!this.isRefused(row, error)) return;
      }
    }
  }

  /** Deleted with its append, unless an earlier job had its key. */
  private async submit(row: OutboxRow): Promise<{ readonly isDeleted: boolean }> {
    const { id, key, exec, options } = row;
    const { client, journal } = this.options;
    const { policy, ...given } = options;
    const job = this.definitionOf(exec, policy);
    const input = inputOf(row);
    journal?.rows.add(key, id);
    try {
      const { receipt } = await client.submit(job, input, {
        ...given,
        key,
        holdKey: journal === undefined,
      });
      return { isDeleted: journal !== undefined && receipt?.duplicate === false };
    } finally {
      journal?.rows.remove(key);
    }
  }

  /** A refusal that may pass, and a leader that is away, leave the row for the next look. */
  private isRefused(row: OutboxRow, error: unknown): boolean {
    const { retryable } = error as { retryable?: boolean };
    const isForGood = error instanceof JobDefinitionError || retryable === false;
    if (!(error instanceof JobsError) || !isForGood) return false;
    this.refused.add(row.id);
    this.options.onRefused?.(row, error);
    return true;
  }

  private definitionOf(exec: string, policy: JobPolicy | undefined): JobDefinition {
    const name = `${exec} ${JSON.stringify(policy)}`;
    const known = this.definitions.get(name);
    if (known !== undefined) return known;
    if (this.definitions.size >= DEFINITIONS_MAX) this.definitions.clear();
    // That of a detached submit is whole; other languages name the fields that they need.
    const job =
      policy?.exec === exec ? { exec, policy, ...ANY_VALUES } : defineJob(exec, { ...policy, ...ANY_VALUES });
    this.definitions.set(name, job);
    return job;
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function idsOf(rows: readonly OutboxRow[]): string {
  return arrayLiteral(rows.map(({ id }) => id));
}

/** Rows of one order key, in their order; every other row alone. */
function lanesOf(rows: readonly OutboxRow[]): readonly (readonly OutboxRow[])[] {
  const lanes = new Map<string, OutboxRow[]>();
  for (const row of rows) {
    const { orderKey } = row.options;
    const name = orderKey === undefined ? String(row.id) : JSON.stringify([row.exec, orderKey]);
    const lane = lanes.get(name);
    if (lane === undefined) lanes.set(name, [row]);
    else lane.push(row);
  }
  return [...lanes.values()];
}

/** Other languages may write a row by hand. */
function inputOf({ id, payload }: OutboxRow): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    throw new JobDefinitionError(`row ${id} of the outbox`, 'its payload is not JSON');
  }
}
