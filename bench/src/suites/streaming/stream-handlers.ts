import { type HandledJob, handle } from '@troupe/jobs';
import { digest } from '../jobs/job-definitions.js';
import { resultOf } from '../jobs/payload.js';
import { ChunkTexts } from './chunk-text.js';
import { monotonicMs } from './monotonic-time.js';
import { ticks, tokens } from './stream-definitions.js';

/** The handlers of the worker process: streams, and the plain job beside them. */
export function streamHandlers(): readonly HandledJob[] {
  const texts = new Map<number, ChunkTexts>();
  const textsOf = (bytes: number): ChunkTexts => {
    const known = texts.get(bytes) ?? new ChunkTexts(bytes);
    texts.set(bytes, known);
    return known;
  };
  return [
    handle(tokens, async function* ({ first, count, bytes }) {
      const own = textsOf(bytes);
      for (let number = first; number < first + count; number += 1) yield own.textOf(number);
      return null;
    }),
    handle(ticks, async function* ({ chunks, periodMs, phaseMs }) {
      const startMs = monotonicMs() + phaseMs;
      for (let number = 0; number < chunks; number += 1) {
        const dueMs = startMs + number * periodMs;
        // A timer drops the fraction, and a chunk must not come before it is due.
        const waitMs = Math.ceil(Math.max(0, dueMs - monotonicMs()));
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        yield { number, dueMs };
      }
      return null;
    }),
    handle(digest, resultOf),
  ];
}
