import type { SnapshotEntry } from '../format/manifest.js';

export interface WalStatus {
  readonly state: 'open' | 'closing' | 'closed' | 'failed';
  readonly epoch: number;
  readonly firstLsn: number;
  readonly durableLsn: number;
  readonly nextLsn: number;
  /** Bytes appended and not yet handed to the disk. */
  readonly bufferedBytes: number;
  readonly segments: number;
  readonly segmentsReady: number;
  /** Bytes of sealed segments that are kept. */
  readonly sealedBytes: number;
  readonly snapshot: SnapshotEntry | undefined;
  readonly isSnapshotBuilding: boolean;
  /** Batches written, and so syncs made, since the log was opened. */
  readonly batches: number;
  readonly batchBytes: number;
  readonly lastSyncMs: number;
  readonly disk: 'ok' | 'low' | 'slow';
}
