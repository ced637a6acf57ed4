import { keepClassNames } from '@troupe/core/class-names';

/** Every error of this package. Match on `code`, never on the text. */
export abstract class PostgresLogError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A setting of the server by which an acknowledged record could be lost. */
export class PostgresUnsafeError extends PostgresLogError {
  override readonly code = 'ERR_POSTGRES_UNSAFE';
  readonly setting: string;

  constructor(setting: string, problem: string) {
    super(`PostgreSQL: ${problem}; change ${setting} on the server`);
    this.setting = setting;
  }
}

/** The tables are of a newer version. */
export class PostgresSchemaError extends PostgresLogError {
  override readonly code = 'ERR_POSTGRES_SCHEMA';

  constructor(schema: string, found: number, known: number) {
    super(
      `PostgreSQL: schema ${schema} has version ${found}, this version knows up to ${known}; start a newer version, nothing was changed`,
    );
  }
}

/** The log ends before a record that was seen: a standby was promoted that lacked the end. */
export class PostgresLogShortError extends PostgresLogError {
  override readonly code = 'ERR_POSTGRES_LOG_SHORT';
  readonly found: number;
  readonly seen: number;

  constructor(found: number, seen: number) {
    super(
      `PostgreSQL: the log ends at ${found}, but record ${seen} was acknowledged; the server was restored or promoted without its end`,
    );
    this.found = found;
    this.seen = seen;
  }
}

/** The server did not answer in time, or cannot be reached. */
export class PostgresUnreachableError extends PostgresLogError {
  override readonly code = 'ERR_POSTGRES_UNREACHABLE';

  constructor(problem: string) {
    super(`PostgreSQL: ${problem}`);
  }
}

/** A submit in a transaction has the key of one that waits, and is another job. */
export class OutboxKeyError extends PostgresLogError {
  override readonly code = 'ERR_OUTBOX_KEY';
  readonly key: string;

  constructor(key: string) {
    super(`a submit with the key '${key}' waits in the outbox, with another job or another input`);
    this.key = key;
  }
}

keepClassNames({
  OutboxKeyError,
  PostgresLogShortError,
  PostgresSchemaError,
  PostgresUnreachableError,
  PostgresUnsafeError,
});
