import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { BodyCorruptError, PayloadBombError } from '../errors.js';
import type { Compression } from './header.js';

/** Below this a compressed body is rarely smaller and never worth the time. */
const WORTH_TRYING_BYTES = 128;
const RATIO_MAX = 100;

/** A body as it goes on the wire: `compression` and `rawLen` belong in its frame's header. */
export interface EncodedBody {
  readonly compression?: Compression;
  readonly rawLen?: number;
  readonly body: Uint8Array;
}

/** Compresses, but only where that makes the body smaller. Synchronous: bodies are at most a frame long, so this stays short. */
export function compressBody(body: Uint8Array, method: Compression): EncodedBody {
  if (body.length < WORTH_TRYING_BYTES) return { body };
  const packed =
    method === 'gzip' ? gzipSync(body, { level: 1 }) : brotliCompressSync(body, { params: BROTLI_FAST });
  // What shrinks beyond the ratio looks like a bomb to the receiver, so it goes as it is.
  const worthIt = packed.length < body.length && packed.length * RATIO_MAX >= body.length;
  return worthIt ? { compression: method, rawLen: body.length, body: packed } : { body };
}

/**
 * Gives the body its sender had. Refuses what claims or turns out to be larger than `bytesMax`, than what was declared, or than
 * 100 times its compressed size; memory stays within that bound whatever the bytes say.
 */
export function decompressBody(packed: EncodedBody, bytesMax: number): Uint8Array {
  const { compression, rawLen, body } = packed;
  if (compression === undefined || rawLen === undefined) return body;
  const allowed = Math.min(bytesMax, body.length * RATIO_MAX);
  if (rawLen > allowed) throw new PayloadBombError(body.length, allowed);
  const raw = expand(compression, body, rawLen);
  if (raw.length !== rawLen)
    throw new BodyCorruptError(`expands to ${raw.length} bytes, ${rawLen} were declared`);
  return raw;
}

const BROTLI_FAST = { [constants.BROTLI_PARAM_QUALITY]: 1 };

function expand(method: Compression, body: Uint8Array, rawLen: number): Buffer {
  // zlib stops as soon as the output would pass this, so a bomb costs no more memory than its honest size.
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
