// Hot path: one of these for every submit.
import type { JobDefinition } from '../job/define-job.js';
import { SubmitWaitError } from '../jobs-error.js';
import type { Receipt, SubmitItem } from '../protocol/client-messages.js';

/** A submit before it has its number. */
export type Draft = { -readonly [Field in keyof SubmitItem]: SubmitItem[Field] };

/** The two ends of the promise that somebody waits for. */
export interface Caller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What was submitted and is not answered yet: who is told, and of what. */
abstract class Outstanding {
  readonly definition: JobDefinition;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  answered = false;

  constructor(definition: JobDefinition, { resolve, reject }: Caller) {
    this.definition = definition;
    this.resolve = resolve;
    this.reject = reject;
  }

  abstract settled(receipt: Receipt): void;

  /** The caller waits no longer. */
  leave(error: Error): void {
    this.reject(error);
  }

  /** What the caller is told when its time is over. */
  late(withinMs: number): Error {
    return new SubmitWaitError(this.definition.exec, withinMs);
  }
}

/** One submit until its receipt has come. */
export abstract class OutstandingJob extends Outstanding {
  readonly item: Draft;

  constructor(wantsOutcome: boolean, definition: JobDefinition, caller: Caller) {
    super(definition, caller);
    this.item = { seq: 0, ref: 0, payload: '', key: '', delayMs: 0, wantsOutcome };
  }

  get ref(): number {
    return this.item.ref;
  }

  get seq(): number {
    return this.item.seq;
  }
}

/** The same for a batch that is taken whole. */
export abstract class OutstandingBatch extends Outstanding {
  readonly items: readonly Draft[];
  seq = 0;

  constructor(items: readonly Draft[], definition: JobDefinition, caller: Caller) {
    super(definition, caller);
    this.items = items;
  }

  get ref(): number {
    return this.items[0]?.ref ?? 0;
  }
}
