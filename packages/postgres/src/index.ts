export {
  PostgresLogError,
  PostgresLogShortError,
  PostgresSchemaError,
  PostgresUnreachableError,
  PostgresUnsafeError,
} from './postgres-error.js';
export { type PostgresJournalOptions, postgresJournal } from './postgres-journal.js';
