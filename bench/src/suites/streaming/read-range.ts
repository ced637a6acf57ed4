import type { Client } from '@troupe/jobs';
import type { ChunkCheck, ChunkRange } from './chunk-text.js';
import { tokens } from './stream-definitions.js';

/** Runs a job with these chunks and reads its stream to the end. */
export async function readRange(client: Client, range: ChunkRange, check: ChunkCheck): Promise<void> {
  const job = await client.submit(tokens, range, { streaming: true });
  for await (const chunk of job.stream()) check.take(chunk);
}
