import type { SnapshotEntry } from '../format/manifest.js';

export interface WalStatus {
  /** Of the log. */
  readonly state: 'open' | 'closing' | 'closed' | 'failed';
  /** One more with every open: the records of an earlier owner have a lower one. */
  readonly epoch: number;
  /** The lowest LSN that `replay` can start from. */
  readonly firstLsn: number;
  /** The last record on the disk. */
  readonly durableLsn: number;
  /** The LSN of the next record. */
  readonly nextLsn: number;
  /** Bytes appended and not yet being written. */
  readonly bufferedBytes: number;
  /** Segments in use. */
  readonly segments: number;
  /** Empty segments that are prepared. */
  readonly segmentsReady: number;
  /** Bytes of the sealed segments in use. */
  readonly sealedBytes: number;
  /** The newest snapshot. */
  readonly snapshot: SnapshotEntry | undefined;
  /** A snapshot is being made. */
  readonly isSnapshotBuilding: boolean;
  /** Batches written since the log was opened; each is one sync. */
  readonly batches: number;
  /** Bytes of these batches. */
  readonly batchBytes: number;
  /** How long the last sync took. */
  readonly lastSyncMs: number;
  /** Bytes after the last valid batch that the opening cut and kept in quarantine/. */
  readonly cutBytes: number;
  /** `low`: too little free space; `slow`: a sync takes too long. Only essential records are taken then. */
  readonly disk: 'ok' | 'low' | 'slow';
}
