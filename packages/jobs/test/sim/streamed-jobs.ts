import {
  type AttemptContext,
  defineJob,
  type HandledJob,
  handle,
  type JobDefinition,
  type JobItem,
} from '@troupe/jobs';
import { aString } from '../plain-schema.js';
import { warmPool } from './warm-models.js';

const CHUNKS = ['a', 'b', 'c'];
const retry = { attempts: 4, baseMs: 20, capMs: 200, crashes: 3 };

/** A job whose chunks may have readers: its worker and its leader must know streams. */
export function streamedJob(keep: { readonly doneMs?: number; readonly deadMs?: number }) {
  return defineJob('sim.streamed', {
    input: aString,
    output: aString,
    chunk: aString,
    useStatic: true,
    group: 'main',
    leaseMs: 400,
    limits: { runMs: 1_500 },
    retry,
    keep,
  });
}

/** Its handler yields a few chunks; `begin` is called first, and its result is the output. */
export function streamedHandler(
  job: ReturnType<typeof streamedJob>,
  begin: (input: string, context: AttemptContext) => string | Promise<string>,
  problem: (text: string) => void,
): HandledJob {
  return handle(job, {
    ...warmPool(1, problem),
    async *run(input, context) {
      context.loaded.enter();
      try {
        const output = await begin(input, context);
        for (const chunk of CHUNKS) yield chunk;
        return output;
      } finally {
        context.loaded.leave();
      }
    },
  });
}

/** One reader of a streamed job: the chunks of an attempt in their order, each there or in a gap. */
export class StreamedItems {
  private attempt = 0;
  private next = 0;
  private hasEnded = false;

  /** A problem with the item, or undefined. */
  take(item: JobItem<JobDefinition>): string | undefined {
    if (this.hasEnded) return `${item.kind} behind the end`;
    switch (item.kind) {
      case 'reset':
        if (item.attempt <= this.attempt) return `attempt ${item.attempt} behind ${this.attempt}`;
        this.attempt = item.attempt;
        this.next = 0;
        return undefined;
      case 'gap':
        return this.from(item.attempt, item.from, item.to ?? CHUNKS.length);
      case 'data':
        return item.chunk === CHUNKS[item.offset]
          ? this.from(item.attempt, item.offset, item.offset + 1)
          : `chunk ${item.offset} is ${String(item.chunk)}`;
      case 'end':
        this.hasEnded = true;
        return undefined;
      default:
        return item.kind === 'finalCollected' ? 'a collected output' : (item satisfies never);
    }
  }

  private from(attempt: number, from: number, to: number): string | undefined {
    if (this.attempt === 0) this.attempt = attempt;
    if (attempt !== this.attempt) return `an item of attempt ${attempt} during ${this.attempt}`;
    if (from !== this.next) return `chunk ${from} in place of ${this.next}`;
    this.next = to;
    return undefined;
  }
}
