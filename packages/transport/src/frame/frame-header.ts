export type Compression = 'gzip' | 'brotli';

/** The fields of a frame of the full dialect beside its body (docs/wire-protocol.md §5). */
export interface FrameHeader {
  /** The id of a request: its answer has it as `corrId`, and so has an Error about this frame. */
  readonly msgId?: string | undefined;
  readonly corrId?: string | undefined;
  readonly compression?: Compression | undefined;
  /** Body length before compression. Present exactly when `compression` is. */
  readonly rawLen?: number | undefined;
  /** Present on the frame that announces a streamed body. */
  readonly bodyId?: number | undefined;
  /** Length of a streamed body; absent where it is not known yet. */
  readonly bodyLength?: number | undefined;
}

export const NO_HEADER: FrameHeader = Object.freeze({});
