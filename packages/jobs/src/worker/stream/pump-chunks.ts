// Hot path: the loop runs once per chunk.
import type { JobDefinition } from '../../job/define-job.js';
import { type Payload, payloadOfValue } from '../../job/payload.js';
import { validateBySchema } from '../../job/validate-by-schema.js';
import { NonRetryableError } from '../../jobs-error.js';
import { CHUNK_BYTES_MAX } from '../../protocol/stream-messages.js';
import type { Attempt } from '../attempt/attempt.js';
import { ChunkCollector } from './chunk-collector.js';

/**
 * Takes the chunks of a handler until it returns: each is checked, sent to the readers where there are some,
 * and collected. Resolves with the output once every chunk has left, so that the end of an attempt comes
 * behind its chunks.
 */
export async function pumpChunks(
  attempt: Attempt,
  job: JobDefinition,
  chunks: AsyncIterator<unknown>,
): Promise<unknown> {
  const collector = new ChunkCollector(job, attempt.outputBytes);
  try {
    for (;;) {
      const step = await chunks.next();
      if (step.done === true) return step.value ?? collector.collected;
      await takeChunk(attempt, job, collector, step.value);
    }
  } catch (error) {
    // The handler's own clean-up; after its own error it has returned already.
    await chunks.return?.();
    throw error;
  } finally {
    while (attempt.stream?.isDrained === false) await attempt.stream.changed();
  }
}

async function takeChunk(
  attempt: Attempt,
  job: JobDefinition,
  collector: ChunkCollector,
  value: unknown,
): Promise<void> {
  const { stream } = attempt;
  if (attempt.isOver) throw new NonRetryableError('the attempt is over');
  // The raw chunk travels, and the reader's schema transforms it once.
  if (job.chunk !== undefined) {
    const checked = validateBySchema(job.exec, 'chunk', job.chunk, value);
    if (checked instanceof Promise) await checked;
  }
  const chunk = encodeChunk(value);
  collector.add(value, chunk.length);
  if (stream === undefined) return;
  stream.push(chunk);
  while (!stream.hasRoom) await stream.changed();
}

function encodeChunk(value: unknown): Payload {
  const chunk = payloadOfValue(value);
  if (chunk === undefined) throw new NonRetryableError(`chunk cannot be written as JSON: a ${typeof value}`);
  if (chunk.length > CHUNK_BYTES_MAX)
    throw new NonRetryableError(`chunk of ${chunk.length} bytes, at most ${CHUNK_BYTES_MAX}`);
  return chunk;
}
