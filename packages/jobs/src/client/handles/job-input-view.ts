/** The input of a job as its leader keeps it. */
export interface JobInputView {
  /** JSON text in UTF-8, or the value itself where the input is bytes; cut at `bytesMax`. */
  readonly bytes: Uint8Array;
  /** Bytes of the whole input. */
  readonly total: number;
  readonly kind: 'json' | 'bytes';
  /** False: the job is done or cancelled, and its input is gone. */
  readonly isKept: boolean;
}

/** An input that is bytes begins with a zero byte, as no JSON does. */
export function inputView(content: Uint8Array, total: number): JobInputView {
  if (content[0] === 0) return { bytes: content.subarray(1), total: total - 1, kind: 'bytes', isKept: true };
  return { bytes: content, total, kind: 'json', isKept: total > 0 };
}
