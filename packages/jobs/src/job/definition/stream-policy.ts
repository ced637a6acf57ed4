import { flag, oneOf, wholeNumber } from '@troupe/core/option-check';

const MIB = 1024 * 1024;

/** How the leader keeps the chunks of a job. */
export interface StreamPolicy {
  /**
   * For chunks that no reader has consumed, once `bufferBytes` of them are in memory. `wait`: the handler
   * waits in its `yield`. `spill`: they go to files beside the log while no reader is there, or behind a
   * slower one; at `spillBytes` a stream of `response` waits, one of `internal` drops its oldest chunks.
   * `drop-with-gap`: the oldest are dropped. `fail`: without any reader the job fails. Default `spill`.
   */
  readonly whenUnread: 'wait' | 'spill' | 'drop-with-gap' | 'fail';
  /** A chunk is acknowledged to its worker once it is on the disk. Default false. */
  readonly durable: boolean;
  /** Chunks in the memory of the leader. Default 1 MiB. */
  readonly bufferBytes: number;
  /** Chunks in files beside the log. Default 64 MiB. */
  readonly spillBytes: number;
}

export const DEFAULT_STREAM: StreamPolicy = {
  whenUnread: 'spill',
  durable: false,
  bufferBytes: MIB,
  spillBytes: 64 * MIB,
};

/** A reader reports every 64 KiB: a smaller buffer would be full of chunks that it has consumed. */
const BUFFER_BYTES_MIN = 128 * 1024;

export const STREAM_RULES = {
  whenUnread: oneOf(['wait', 'spill', 'drop-with-gap', 'fail']),
  durable: flag,
  bufferBytes: wholeNumber(BUFFER_BYTES_MIN, 64 * MIB),
  spillBytes: wholeNumber(0, 1024 * 1024 * MIB),
};
