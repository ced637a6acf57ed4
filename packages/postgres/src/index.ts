export {
  PostgresLogError,
  PostgresLogShortError,
  PostgresSchemaError,
  PostgresUnreachableError,
  PostgresUnsafeError,
} from './postgres-error.js';
export { type PostgresJournalOptions, postgresJournal, type StandbyLeader } from './postgres-journal.js';
