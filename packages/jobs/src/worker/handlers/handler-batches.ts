import type { HandlerInput, HandlerOutput, JobDefinition } from '../../job/definition/define-job.js';
import { JobDefinitionError } from '../../jobs-error.js';
import type { AttemptContext } from './handler.js';

/** One job of a batch. */
export interface BatchItem<D extends JobDefinition> {
  /** Its input, after its schema. */
  readonly input: HandlerInput<D>;
  /** Its attempt. */
  readonly context: AttemptContext;
}

/** The end of one job: its output, or the error that ends its attempt. */
export type BatchOutcome<D extends JobDefinition> = { readonly output: HandlerOutput<D> } | Error;

/** Handles several jobs at once, with one outcome for each in their order. A thrown error ends them all. */
export type BatchHandler<D extends JobDefinition> = (
  items: readonly BatchItem<D>[],
) => readonly BatchOutcome<D>[] | Promise<readonly BatchOutcome<D>[]>;

interface WaitingItem<D extends JobDefinition> extends BatchItem<D> {
  resolve(output: HandlerOutput<D>): void;
  reject(error: Error): void;
}

/** Collects the attempts of one handler into batches, one batch at a time. */
export class HandlerBatches<D extends JobDefinition> {
  private readonly exec: string;
  private readonly handler: BatchHandler<D>;
  private readonly max: number;
  private waiting: WaitingItem<D>[] = [];
  private isRunning = false;

  constructor(exec: string, handler: BatchHandler<D>, max: number) {
    this.exec = exec;
    this.handler = handler;
    this.max = max;
  }

  /** Settles with the outcome of this item. */
  add(item: BatchItem<D>): Promise<HandlerOutput<D>> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ...item, resolve, reject });
      if (this.isRunning) return;
      this.isRunning = true;
      // Attempts that begin in the same moment are one batch.
      void Promise.resolve().then(() => this.runAll());
    });
  }

  private async runAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, this.max);
      this.waiting = this.waiting.slice(this.max);
      await this.run(batch.filter(isLive));
    }
    this.isRunning = false;
  }

  private async run(items: readonly WaitingItem<D>[]): Promise<void> {
    if (items.length === 0) return;
    try {
      const outcomes = await this.handler(items.map(({ input, context }) => ({ input, context })));
      this.settle(items, outcomes);
    } catch (error) {
      for (const item of items) item.reject(error as Error);
    }
  }

  private settle(items: readonly WaitingItem<D>[], outcomes: readonly BatchOutcome<D>[]): void {
    if (!Array.isArray(outcomes) || outcomes.length !== items.length) {
      const given = Array.isArray(outcomes) ? `${outcomes.length} outcomes` : 'no list of outcomes';
      throw new JobDefinitionError(
        `job '${this.exec}'`,
        `its handler gave ${given} for ${items.length} jobs`,
      );
    }
    items.forEach((item, at) => {
      const outcome: unknown = outcomes[at];
      if (outcome instanceof Error) item.reject(outcome);
      else if (hasOutput<HandlerOutput<D>>(outcome)) item.resolve(outcome.output);
      else {
        const problem = `outcome ${at} of its handler is neither { output } nor an Error`;
        item.reject(new JobDefinitionError(`job '${this.exec}'`, problem));
      }
    });
  }
}

/** A handler without types may give an output alone, which must not become no output. */
function hasOutput<Output>(outcome: unknown): outcome is { readonly output: Output } {
  return typeof outcome === 'object' && outcome !== null && 'output' in outcome;
}

/** An attempt that was cancelled or fenced while it waited is not begun. */
function isLive<D extends JobDefinition>({ context, reject }: WaitingItem<D>): boolean {
  if (!context.signal.aborted) return true;
  reject(context.signal.reason as Error);
  return false;
}
