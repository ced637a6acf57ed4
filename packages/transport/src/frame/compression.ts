import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { BodyCorruptError, PayloadBombError } from '../transport-error.js';
import type { Compression } from './frame-header.js';

/** Shorter bodies rarely get smaller and are never worth the time. */
const COMPRESS_BYTES_MIN = 128;
const RATIO_MAX = 100;

/** A body as it is on the wire; `compression` and `rawLen` belong in the header of its frame. */
export interface EncodedBody {
  readonly compression?: Compression | undefined;
  readonly rawLen?: number | undefined;
  readonly body: Uint8Array;
}

/** Compresses where that makes the body smaller. Synchronous: a body is at most a frame long. */
export function compressBody(body: Uint8Array, method: Compression): EncodedBody {
  if (body.length < COMPRESS_BYTES_MIN) return { body };
  const compressed =
    method === 'gzip' ? gzipSync(body, { level: 1 }) : brotliCompressSync(body, { params: BROTLI_FAST });
  // A receiver takes a body beyond the ratio for a decompression bomb, so it goes uncompressed.
  const isWorthIt = compressed.length < body.length && compressed.length * RATIO_MAX >= body.length;
  return isWorthIt ? { compression: method, rawLen: body.length, body: compressed } : { body };
}

/**
 * The body as its sender had it. Refuses a body that declares or reaches more than `bytesMax`, more than
 * `rawLen`, or more than 100 times its compressed size; memory stays within that bound for any input.
 */
export function decompressBody(encoded: EncodedBody, bytesMax: number): Uint8Array {
  const { compression, rawLen, body } = encoded;
  if (compression === undefined || rawLen === undefined) return body;
  const rawLenMax = Math.min(bytesMax, body.length * RATIO_MAX);
  if (rawLen > rawLenMax) throw new PayloadBombError(body.length, rawLenMax);
  const raw = expand(compression, body, rawLen);
  if (raw.length !== rawLen)
    throw new BodyCorruptError(`expands to ${raw.length} bytes, ${rawLen} were declared`);
  return raw;
}

const BROTLI_FAST = { [constants.BROTLI_PARAM_QUALITY]: 1 };

function expand(method: Compression, body: Uint8Array, rawLen: number): Buffer {
  // zlib stops as soon as the output would pass this, so a bomb costs no more memory than it declared.
  const options = { maxOutputLength: Math.max(rawLen, 1) };
  try {
    return method === 'gzip' ? gunzipSync(body, options) : brotliDecompressSync(body, options);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw new PayloadBombError(body.length, rawLen, { cause });
    }
    throw new BodyCorruptError(`not ${method}`, { cause });
  }
}
