import { defineJob, handle } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

const MONTH_MS = 30 * 24 * 3_600_000;
const PADDING = '.'.repeat(300);
/** The handler pauses after so many chunks, so that a kill meets it in mid-stream. */
const BURST = 25;

/** Yields so many chunks. It may lose its worker as often as a campaign kills one. */
export const Tokens = defineJob('sample.tokens', {
  input: aNumber,
  output: aNumber,
  chunk: aString,
  collect: false,
  leaseMs: 10_000,
  keep: { doneMs: MONTH_MS },
  retry: { attempts: 1_000, crashes: 1_000, baseMs: 1, capMs: 50 },
});

/** Each chunk names its job, its attempt and its number. */
export function tokenOf(id: string, attempt: number, offset: number): string {
  return `${id}/${attempt}/${offset}${PADDING}`;
}

export const tokensHandler = handle(Tokens, async function* (count, { jobId, attempt }) {
  for (let offset = 0; offset < count; offset += 1) {
    if (offset % BURST === BURST - 1) await new Promise((resolve) => setTimeout(resolve, 5));
    yield tokenOf(jobId, attempt, offset);
  }
  return count;
});
