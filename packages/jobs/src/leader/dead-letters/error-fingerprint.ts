import type { JobFailure } from '../../jobs-error.js';

const MESSAGE_CHARS_MAX = 300;
/** Failures are never changed: one that is looked at again has the same fingerprint. */
const known = new WeakMap<JobFailure, ErrorFingerprint>();

/** Failures that differ in numbers, ids and quoted texts alone have the same one. */
export interface ErrorFingerprint {
  /** Sixteen hexadecimal digits. */
  readonly id: string;
  /** The message with # in place of numbers and ids. */
  readonly message: string;
}

const NO_FAILURE: JobFailure = { name: '', message: '' };

/** The fingerprint of a failure of jobs of this exec. */
export function fingerprintOf(exec: string, failure: JobFailure = NO_FAILURE): ErrorFingerprint {
  const before = known.get(failure);
  if (before !== undefined) return before;
  const message = generalized(failure.message);
  const text = [exec, failure.name, failure.code ?? '', message].join('\n');
  const fingerprint = { id: hash(text, 0x811c9dc5) + hash(text, 0x01000193), message };
  if (failure !== NO_FAILURE) known.set(failure, fingerprint);
  return fingerprint;
}

function generalized(message: string): string {
  return message
    .slice(0, MESSAGE_CHARS_MAX)
    .replace(/'[^']*'|"[^"]*"/g, "'#'")
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|\d+/gi, '#');
}

function hash(text: string, seed: number): string {
  let value = seed;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  return (Math.imul(value, 0x85ebca6b) >>> 0).toString(16).padStart(8, '0');
}
