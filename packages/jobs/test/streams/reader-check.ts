import type { StreamPosition } from '#src/protocol/stream-messages.js';

/** An item of `job.items()`, whatever its job. */
export type AnyItem =
  | { readonly kind: 'data'; readonly attempt: number; readonly offset: number; readonly chunk: unknown }
  | { readonly kind: 'reset'; readonly attempt: number }
  | {
      readonly kind: 'gap';
      readonly attempt: number;
      readonly from: number;
      readonly to: number | undefined;
    }
  | { readonly kind: 'finalCollected'; readonly value: unknown }
  | { readonly kind: 'end'; readonly outcome: 'done' | 'dead' | 'cancelled' };

export interface ReaderRules {
  readonly streaming: 'response' | 'internal';
  /** The chunk with this number, as its handler yields it. */
  readonly chunkOf: (attempt: number, offset: number) => unknown;
  /** The reason of a gap up to this chunk of an attempt; undefined: there is none. */
  readonly excuse: (attempt: number, to: number | undefined) => string | undefined;
}

/**
 * The rules of a stream, item by item: no gap that was not announced, no duplicate, no chunk of an earlier
 * attempt, one end, last. It knows nothing of the leader.
 */
export class ReaderCheck {
  readonly problems: string[] = [];
  /** The next chunk: another reader may go on there. */
  position: StreamPosition;
  end: 'done' | 'dead' | 'cancelled' | undefined = undefined;
  /** A gap without an end: the number of chunks is not known. */
  hasUnknownGap = false;
  private readonly name: string;
  private readonly rules: ReaderRules;
  private hasOutput = false;

  constructor(name: string, rules: ReaderRules, from: StreamPosition = { attempt: 0, offset: 0 }) {
    this.name = name;
    this.rules = rules;
    this.position = from;
  }

  take(item: AnyItem): void {
    if (this.end !== undefined) return this.problem(`${item.kind} after the end`);
    if (this.hasOutput && item.kind !== 'end') return this.problem(`${item.kind} after the output`);
    switch (item.kind) {
      case 'data':
        return this.data(item);
      case 'gap':
        return this.gap(item);
      case 'reset':
        if (item.attempt <= this.position.attempt) this.problem(`reset to attempt ${item.attempt}`);
        this.position = { attempt: item.attempt, offset: 0 };
        this.hasUnknownGap = false;
        return;
      case 'finalCollected':
        if (this.rules.streaming !== 'internal') this.problem('an output in the stream of a response');
        this.hasOutput = true;
        return;
      case 'end':
        if (this.rules.streaming === 'internal' && this.hasOutput !== (item.outcome === 'done'))
          this.problem(`${item.outcome} ${this.hasOutput ? 'with' : 'without'} an output`);
        this.end = item.outcome;
        return;
      default:
        return item satisfies never;
    }
  }

  private data({ attempt, offset, chunk }: AnyItem & { readonly kind: 'data' }): void {
    this.expectPosition('chunk', attempt, offset);
    if (chunk !== this.rules.chunkOf(attempt, offset))
      this.problem(`chunk ${attempt}/${offset} is ${String(chunk).slice(0, 30)}`);
    this.position = { attempt, offset: offset + 1 };
  }

  private gap({ attempt, from, to }: AnyItem & { readonly kind: 'gap' }): void {
    this.expectPosition('gap', attempt, from);
    if (to !== undefined && to <= from) this.problem(`gap from ${from} to ${to}`);
    if (this.rules.excuse(attempt, to) === undefined)
      this.problem(`gap from ${from} to ${to} without a reason`);
    if (to === undefined) this.hasUnknownGap = true;
    this.position = { attempt, offset: to ?? from };
  }

  private expectPosition(what: string, attempt: number, offset: number): void {
    const { attempt: known, offset: next } = this.position;
    // A reader that named no attempt meets the one that runs.
    if (known !== 0 && attempt !== known) this.problem(`${what} of attempt ${attempt} in attempt ${known}`);
    else if (offset > next) this.problem(`${what} ${offset}, and ${next} was not announced as lost`);
    else if (offset < next) this.problem(`${what} ${offset} again, ${next} is the next`);
  }

  private problem(text: string): void {
    this.problems.push(`${this.name}: ${text}`);
  }
}
