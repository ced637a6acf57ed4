import type { SnapshotEntry } from '../format/manifest.js';

export interface WalStatus {
  readonly state: 'open' | 'closing' | 'closed' | 'failed';
  readonly epoch: number;
  readonly firstLsn: number;
  readonly durableLsn: number;
  readonly nextLsn: number;
  /** Bytes appended and not yet being written. */
  readonly bufferedBytes: number;
  readonly segments: number;
  readonly segmentsReady: number;
  /** Bytes of the sealed segments in use. */
  readonly sealedBytes: number;
  readonly snapshot: SnapshotEntry | undefined;
  readonly isSnapshotBuilding: boolean;
  /** Batches written since the log was opened; each is one sync. */
  readonly batches: number;
  readonly batchBytes: number;
  readonly lastSyncMs: number;
  /** Bytes after the last valid batch that the opening cut and kept in quarantine/. */
  readonly cutBytes: number;
  readonly disk: 'ok' | 'low' | 'slow';
}
