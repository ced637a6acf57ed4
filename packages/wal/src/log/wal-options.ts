import type { CodecName } from '../codec/codec-lookup.js';
import { BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BATCH_TRAILER_BYTES } from '../format/batch.js';
import type { ContentFormat } from '../format/content-format.js';
import { PAGE_BYTES, padToPage } from '../format/page-padding.js';
import { nodeWalHost } from '../host/node-wal-host.js';
import type { WalHost } from '../host/wal-host.js';
import { integer, wordOf } from '../option-check.js';
import type { SnapshotBuilder } from '../snapshot/snapshot-builder.js';
import type { FoldModule } from '../snapshot/state-fold.js';
import { nodeStorage } from '../storage/node-storage.js';
import type { Storage } from '../storage/storage.js';
import { type WalError, WalOptionError } from '../wal-error.js';
import type { WalEvent } from './wal-event.js';

export interface WalOptions {
  /** The log's own directory. Default: none; give this or `storage`. */
  readonly dir?: string | undefined;
  /** Files, in place of those in `dir`. */
  readonly storage?: Storage | undefined;
  /** Clock, timers and exit. Default: this Node process. */
  readonly host?: WalHost | undefined;
  /** Codec for new records; both are always readable. Default 'binary'. */
  readonly codec?: CodecName | undefined;
  /**
   * The format of the records' content. A log with a newer one is refused before anything is changed; a lower
   * minor is raised. Default: none, and any log opens.
   */
  readonly content?: ContentFormat | undefined;
  /** The size of a segment, rounded up to whole pages. Default 64 MiB. */
  readonly segmentBytes?: number | undefined;
  /** The first segment after an open is smaller, which is faster. Default 4 MiB, at most `segmentBytes`. */
  readonly firstSegmentBytes?: number | undefined;
  /**
   * Most bytes in one batch and so waiting for the disk; beyond it `append` returns FULL. Default: what a
   * segment holds, at most 16 MiB.
   */
  readonly batchBytesMax?: number | undefined;
  /** Payloads above this become blobs. Default 1 MiB. */
  readonly inlineBytesMax?: number | undefined;
  /** Delay between the last batch of a burst and its seal. Default 50. */
  readonly sealDelayMs?: number | undefined;
  /**
   * Below this much free space only essential appends are accepted. Default the larger of 1 GiB and four
   * segments; 0 turns it off.
   */
  readonly freeBytesSoft?: number | undefined;
  /**
   * Below this much free space the next segment is not prepared. Default 256 MiB, or a quarter of
   * `freeBytesSoft` if that is less.
   */
  readonly freeBytesHard?: number | undefined;
  /** The fold over records whose state the snapshots hold, by module and export. */
  readonly fold?: FoldModule | undefined;
  /** Runs the fold. Default: on a worker thread. */
  readonly snapshotBuilder?: SnapshotBuilder | undefined;
  /**
   * A snapshot is made when the log after the last one is larger than this and than twice that snapshot.
   * Default 256 MiB; 0 turns automatic snapshots off.
   */
  readonly snapshotEveryBytes?: number | undefined;
  /** Interval of automatic scrubs. Default 0: only when `scrub()` is called. */
  readonly scrubEveryMs?: number | undefined;
  /**
   * Opens a directory on a network file system all the same. The caller sees to it that one process at a time
   * uses it. Default false.
   */
  readonly allowNetworkFs?: boolean | undefined;
  /** Receives events for operators. */
  readonly onEvent?: ((event: WalEvent) => void) | undefined;
  /** Called when the log must end, before the host's `exit`. */
  readonly onFatal?: ((error: WalError) => void) | undefined;
}

export interface LogSettings {
  readonly dir: string | undefined;
  readonly storage: Storage;
  readonly host: WalHost;
  readonly exit: (code: number) => void;
  readonly codec: CodecName;
  readonly content: ContentFormat | undefined;
  readonly segmentBytes: number;
  readonly firstSegmentBytes: number;
  readonly batchBytesMax: number;
  readonly inlineBytesMax: number;
  readonly sealDelayMs: number;
  readonly freeBytesSoft: number;
  readonly freeBytesHard: number;
  readonly fold: FoldModule | undefined;
  readonly snapshotBuilder: SnapshotBuilder | undefined;
  readonly snapshotEveryBytes: number;
  readonly scrubEveryMs: number;
  readonly allowNetworkFs: boolean;
  readonly onEvent: (event: WalEvent) => void;
  readonly onFatal: (error: WalError) => void;
}

const MIB = 1024 * 1024;
const SEGMENT_BYTES_MIN = 2 * PAGE_BYTES;
const SEGMENT_BYTES_MAX = 1024 * MIB;
/** A codec needs at most this much more than the payload, and a third of it for base64. */
const RECORD_OVERHEAD = 256;

export function readOptions(options: WalOptions): LogSettings {
  const { dir } = options;
  if ((dir === undefined) === (options.storage === undefined)) {
    throw new WalOptionError('dir', dir, 'needed either dir or storage');
  }
  const storage = options.storage ?? nodeStorage(dir as string); // exactly one of the two is given
  const host = options.host ?? nodeWalHost;
  const segmentBytes = pages(
    'segmentBytes',
    options.segmentBytes ?? 64 * MIB,
    SEGMENT_BYTES_MIN,
    SEGMENT_BYTES_MAX,
  );
  const firstWanted = options.firstSegmentBytes ?? Math.min(segmentBytes, 4 * MIB);
  const firstSegmentBytes = pages('firstSegmentBytes', firstWanted, SEGMENT_BYTES_MIN, segmentBytes);
  const batchRoom = Math.min(BATCH_BYTES_MAX, segmentBytes - PAGE_BYTES);
  const batchBytesMax = integer('batchBytesMax', options.batchBytesMax ?? batchRoom, PAGE_BYTES, batchRoom);
  const inlineRoom = Math.floor(
    ((batchBytesMax - BATCH_HEADER_BYTES - BATCH_TRAILER_BYTES - RECORD_OVERHEAD) * 3) / 4,
  );
  const inlineWanted = options.inlineBytesMax ?? Math.min(inlineRoom, MIB);
  const freeBytesSoft = integer(
    'freeBytesSoft',
    options.freeBytesSoft ?? Math.max(1024 * MIB, 4 * segmentBytes),
    0,
  );
  return {
    dir,
    storage,
    host,
    exit: (code) => (host.exit === undefined ? nodeWalHost.exit(code) : host.exit(code)),
    codec: wordOf('codec', options.codec ?? 'binary', ['binary', 'jsonl']),
    content: options.content,
    segmentBytes,
    firstSegmentBytes,
    batchBytesMax,
    inlineBytesMax: integer('inlineBytesMax', inlineWanted, 0, inlineRoom),
    sealDelayMs: integer('sealDelayMs', options.sealDelayMs ?? 50, 0),
    freeBytesSoft,
    freeBytesHard: integer(
      'freeBytesHard',
      options.freeBytesHard ?? Math.min(256 * MIB, freeBytesSoft / 4),
      0,
    ),
    fold: options.fold,
    snapshotBuilder: options.snapshotBuilder,
    snapshotEveryBytes: integer('snapshotEveryBytes', options.snapshotEveryBytes ?? 256 * MIB, 0),
    scrubEveryMs: integer('scrubEveryMs', options.scrubEveryMs ?? 0, 0),
    allowNetworkFs: options.allowNetworkFs ?? false,
    onEvent: options.onEvent ?? (() => undefined),
    onFatal: options.onFatal ?? (() => undefined),
  };
}

function pages(option: string, value: number, min: number, max: number): number {
  return padToPage(integer(option, value, min, max));
}
