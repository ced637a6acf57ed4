import type { Client } from '@troupe/jobs';
import { readTokens } from './read-tokens.js';
import { Tokens } from './token-stream.js';

/** A small buffer, so that streams are in mid-stream when something is killed. */
const BUFFER_BYTES = 128 * 1024;
const PRINTED_EVERY = 20;

/**
 * Submits streams and reads each to its end, several at the same time, until `isEnding`. It prints its
 * positions, so that another process can read on where this one was killed.
 */
export async function submitAndRead(
  client: Client,
  lanes: number,
  print: (event: object) => void,
  isEnding: () => boolean,
): Promise<void> {
  let streams = 0;
  const lane = async (): Promise<void> => {
    while (!isEnding()) {
      streams += 1;
      const isDurable = streams % 2 === 0;
      const count = 200 + (streams % 7) * 50;
      const stream = { durable: isDurable, bufferBytes: BUFFER_BYTES };
      const { id } = await client.submit(Tokens, count, { streaming: true, stream });
      print({ kind: 'submitted', id, count, isDurable });
      const onItem = ({ attempt, offset }: { attempt: number; offset: number }): void => {
        if (offset % PRINTED_EVERY === 0) print({ kind: 'reading', id, attempt, offset });
      };
      const problems = await readTokens(client, { id, count, isDurable }, { onItem });
      for (const text of problems) print({ kind: 'problem', text });
      print({ kind: 'streamed', id });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
