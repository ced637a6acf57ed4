export type { StandbyLeader } from './log/open-log.js';
export { OutboxRelay, type OutboxRelayOptions } from './outbox/outbox-relay.js';
export { type SubmitInOptions, submitIn, type Transaction } from './outbox/submit-in.js';
export {
  OutboxKeyError,
  PostgresLogError,
  PostgresLogShortError,
  PostgresSchemaError,
  PostgresUnreachableError,
  PostgresUnsafeError,
} from './postgres-error.js';
export {
  type OpenPostgresJournal,
  type PostgresJournalOptions,
  postgresJournal,
} from './postgres-journal.js';
