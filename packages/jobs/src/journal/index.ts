// For journals that are written outside this package.
export type { DurableReceiver, DurableWrite, LogCondition } from '@troupe/wal';
export type { PayloadStore, PayloadWriter } from '../job/payload/payload-store.js';
export { StoredPayload } from '../job/payload/stored-payload.js';
export { JournalDeposedError, LedgerVersionError } from '../jobs-error.js';
export type { LedgerContents } from '../ledger/ledger-contents.js';
export { ledgerContents } from '../ledger/ledger-contents.js';
export { assertLedgerReadable, LEDGER_FORMAT, type LedgerFormat } from '../ledger/ledger-format.js';
export type { DurabilityLevel } from '../protocol/client/client-messages.js';
export type {
  LeaderJournal,
  OpenSpill,
  Spill,
  SpillRead,
  SpillReceiver,
  SpillWrite,
} from '../spill/spill.js';
export type { Journal, JournalOwner, JournalReader, JournalWatcher, OpenJournal } from './journal.js';
export { GOOD_CONDITION } from './journal.js';
export { SubmittedKeys } from './submitted-keys.js';
