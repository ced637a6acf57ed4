import type { Client } from '@troupe/jobs';
import type { StreamPosition } from '#src/protocol/stream-messages.js';
import { ReaderCheck } from '../streams/reader-check.js';
import { Tokens, tokenOf } from './token-stream.js';

export interface TokenJob {
  readonly id: string;
  readonly count: number;
  readonly isDurable: boolean;
}

/**
 * Reads the stream of a job to its end, by rules that know nothing of the leader. A durable stream has no gap,
 * whatever is killed; another one may have some where a leader was.
 */
export async function readTokens(
  client: Client,
  { id, count, isDurable }: TokenJob,
  { from, onItem }: { from?: StreamPosition; onItem?: (position: StreamPosition) => void } = {},
): Promise<readonly string[]> {
  const check = new ReaderCheck(
    `job ${id}`,
    {
      streaming: 'response',
      chunkOf: (attempt, offset) => tokenOf(id, attempt, offset),
      excuse: () => (isDurable ? undefined : 'a leader may have been killed'),
    },
    from,
  );
  for await (const item of client.open(Tokens, id).items({ from })) {
    check.take(item);
    onItem?.(check.position);
  }
  const { problems, end, position, hasUnknownGap } = check;
  if (end !== 'done') problems.push(`job ${id}: its stream ended with ${end}`);
  else if (position.offset !== count && !hasUnknownGap)
    problems.push(`job ${id}: its stream ended behind chunk ${position.offset} of ${count}`);
  return problems;
}
