import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { AttemptEnding, EndedAttempt } from '../attempts/ended-attempt.js';
import type { Ledger } from '../ledger.js';
import type { LedgerByteReader } from './ledger-byte-reader.js';
import { decodeFailure, encodeFailure } from './ledger-record-codec.js';

/** The attempts of one job. */
export function encodeAttempts(
  [job, attempts]: readonly [number, readonly EndedAttempt[]],
  out: ByteWriter,
): void {
  out.int(job);
  out.int(attempts.length);
  for (const { attempt, worker, startedAt, endedAt, ending, failure } of attempts) {
    out.int(attempt);
    out.text(worker);
    out.double(startedAt);
    out.double(endedAt);
    out.text(ending);
    encodeFailure(failure, out);
  }
}

export function decodeAttempts(ledger: Ledger, read: LedgerByteReader): void {
  const job = read.int();
  const attempts: EndedAttempt[] = [];
  for (let left = read.int(); left > 0; left -= 1) attempts.push(decodeAttempt(read));
  ledger.attempts.set(job, attempts);
}

function decodeAttempt(read: LedgerByteReader): EndedAttempt {
  const attempt = read.int();
  const worker = read.text();
  const times = { startedAt: read.double(), endedAt: read.double() };
  // The word of an ending; a later version may have more of them, and they are shown as they are.
  const ending = read.text() as AttemptEnding;
  const failure = decodeFailure(read);
  return { attempt, worker, ...times, ending, ...(failure === undefined ? {} : { failure }) };
}
