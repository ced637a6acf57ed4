// Hot path: the loop runs once per chunk.
import type { JobDefinition } from '../../job/definition/define-job.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadOfValue } from '../../job/payload/payload.js';
import { NonRetryableError } from '../../jobs-error.js';
import { CHUNK_BYTES_MAX } from '../../protocol/stream-messages.js';
import type { Attempt } from '../attempt/attempt.js';
import { ChunkCollector } from './chunk-collector.js';
import type { ChunkSender } from './chunk-sender.js';
import { emptyOutput } from './empty-output.js';

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
    attempt.startSilence();
    for (;;) {
      const step = await chunks.next();
      if (step.done === true)
        return step.value === undefined ? await collectedBy(collector, job) : step.value;
      const taking = takeChunk(attempt, job, collector, step.value);
      if (taking !== undefined) await taking;
    }
  } catch (error) {
    // The handler's own clean-up; after its own error it has returned already.
    await chunks.return?.();
    throw error;
  } finally {
    attempt.stopSilence();
    while (attempt.stream?.isDrained === false) await attempt.stream.changed();
  }
}

function collectedBy(collector: ChunkCollector, job: JobDefinition): unknown {
  return collector.isEmpty && job.collect === undefined ? emptyOutput(job) : collector.collected;
}

/** At once, where the schema is synchronous and there is room. */
function takeChunk(
  attempt: Attempt,
  job: JobDefinition,
  collector: ChunkCollector,
  value: unknown,
): Promise<void> | undefined {
  mustGoOn(attempt);
  // The raw chunk travels, and the reader's schema transforms it once.
  const checked = job.chunk === undefined ? value : validateBySchema(job.exec, 'chunk', job.chunk, value);
  if (checked instanceof Promise) return checked.then(() => sendChunk(attempt, collector, value));
  return sendChunk(attempt, collector, value);
}

function sendChunk(attempt: Attempt, collector: ChunkCollector, value: unknown): Promise<void> | undefined {
  const { stream } = attempt;
  const chunk = encodeChunk(value);
  collector.add(value, chunk.length);
  if (stream?.push(chunk) === true && !stream.hasRoom) return waitForRoom(attempt, stream);
  attempt.startSilence();
  return undefined;
}

async function waitForRoom(attempt: Attempt, stream: ChunkSender): Promise<void> {
  attempt.stopSilence();
  while (!stream.hasRoom) await stream.changed();
  mustGoOn(attempt);
  attempt.startSilence();
}

/** An attempt that was cancelled or timed out takes no chunk: its generator ends in its `yield`. */
function mustGoOn({ isOver }: Attempt): void {
  if (isOver) throw new NonRetryableError('the attempt is over');
}

function encodeChunk(value: unknown): Payload {
  const chunk = payloadOfValue(value);
  if (chunk === undefined) throw new NonRetryableError(`chunk cannot be written as JSON: a ${typeof value}`);
  if (chunk.length > CHUNK_BYTES_MAX)
    throw new NonRetryableError(`chunk of ${chunk.length} bytes, at most ${CHUNK_BYTES_MAX}`);
  return chunk;
}
