export {
  type AppendRequest,
  type DurableReceiver,
  type DurableWrite,
  type LogWatcher,
  type OpenedLog,
  type ReplayRequest,
  WalActor,
  type WalProtocol,
  type WriteRequest,
} from './actor/wal-actor.js';
export type { BlobReader } from './blob/blob-reader.js';
export type { BlobRef } from './blob/blob-ref.js';
export type { BlobWriter } from './blob/blob-writer.js';
export type { CodecName } from './codec/codec-lookup.js';
export type { RecordVisitor } from './codec/record-codec.js';
export type { AppendCallback } from './commit/append-callbacks.js';
export type { ContentFormat } from './format/content-format.js';
export type { Loss, SnapshotEntry } from './format/manifest.js';
export { walHostOf } from './host/core-host-adapter.js';
export { nodeWalHost } from './host/node-wal-host.js';
export type { WalHost } from './host/wal-host.js';
export { type AppendOptions, FULL, type Log, REFUSED } from './log/log.js';
export type { LogCondition } from './log/log-condition.js';
export type { ReplayRange } from './log/log-reader.js';
export { openLog } from './log/open-log.js';
export { openWal, type PromiseLog } from './log/promise-log.js';
export type { WalEvent } from './log/wal-event.js';
export type { WalOptions } from './log/wal-options.js';
export type { WalStatus } from './log/wal-status.js';
export { type CopyOptions, type CopyReport, copyWal } from './maintenance/copy-wal.js';
export { type DumpedEntry, type DumpOptions, dumpWal } from './maintenance/dump-wal.js';
export { type RepairOptions, type RepairReport, repairWal } from './maintenance/repair-wal.js';
export type { ScrubReport } from './maintenance/scrub.js';
export { type VerifyReport, verifyWal } from './maintenance/verify-wal.js';
export { inlineSnapshotBuilder } from './snapshot/inline-snapshot-builder.js';
export type { BuildRequest, BuiltSnapshot, SnapshotBuilder } from './snapshot/snapshot-builder.js';
export type { Fold, FoldModule } from './snapshot/state-fold.js';
export { nodeStorage } from './storage/node-storage.js';
export type { Callback, OpenMode, Storage, StorageFile } from './storage/storage.js';
export {
  type Damage,
  WalBlobError,
  WalClosedError,
  WalContentError,
  WalCopyError,
  WalCorruptError,
  WalDirectoryError,
  WalDiskFullError,
  WalDiskLowError,
  WalDiskSlowError,
  WalError,
  WalFencedError,
  WalIoError,
  WalLockedError,
  WalNetworkError,
  WalOptionError,
  WalRecordTooLargeError,
  WalSnapshotError,
  WalTrimmedError,
  WalVersionError,
} from './wal-error.js';
