import type { JobDefinition, JobHandle, JobStreamEnd } from '@troupe/jobs';
import { JobCancelledError, JobFailedError, JobWaitError } from '@troupe/jobs';
import { escapeControlCharacters } from '../../output/text/escape-control-characters.js';
import type { CommandContext, JsonFlag } from '../../subcommand.js';

/**
 * Prints the chunks of a job as they come: texts as they are, other values as lines of JSON. A new attempt
 * and a gap are messages for people. Fails as the job does, and as `await` when the time is over.
 */
export async function printStream(
  context: CommandContext,
  flags: JsonFlag,
  job: JobHandle<JobDefinition>,
  { withinMs }: { readonly withinMs?: number },
): Promise<void> {
  const { terminal } = context;
  const stop = new AbortController();
  const timer =
    withinMs === undefined
      ? undefined
      : setTimeout(() => stop.abort(new JobWaitError(job.id, withinMs)), withinMs);
  let isInLine = false;
  const notice = (text: string): void =>
    terminal.err(`${isInLine ? '\n' : ''}troupe: job ${job.id}: ${text}`);
  try {
    for await (const item of job.items({ signal: stop.signal })) {
      if (flags.json === true) terminal.out(JSON.stringify(item));
      if (item.kind === 'end') mustBeDone(job.id, item);
      else if (flags.json === true) continue;
      else if (item.kind === 'reset') notice(`attempt ${item.attempt} has begun, the chunks so far are void`);
      else if (item.kind === 'gap') notice(`chunks ${item.from} to ${item.to ?? 'the end'} are lost`);
      else if (item.kind === 'data') isInLine = printChunk(context, item.chunk);
    }
  } finally {
    clearTimeout(timer);
    if (isInLine) terminal.out('');
  }
}

function mustBeDone(id: string, { outcome, reason, failure }: JobStreamEnd): void {
  if (outcome === 'dead') throw new JobFailedError(id, reason, failure);
  if (outcome === 'cancelled') throw new JobCancelledError(id, reason);
}

/** True: the line is not ended. */
function printChunk({ terminal }: CommandContext, chunk: unknown): boolean {
  if (typeof chunk !== 'string') {
    terminal.out(escapeControlCharacters(JSON.stringify(chunk)));
    return false;
  }
  const shown =
    terminal.showsResults === true ? chunk.split('\n').map(escapeControlCharacters).join('\n') : chunk;
  if (terminal.write === undefined) terminal.out(shown);
  else terminal.write(shown);
  return terminal.write !== undefined && !chunk.endsWith('\n');
}
