import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { Failure } from '../message/expected-failure.js';

const WARNED_MAX = 1_000;

interface MadeBy {
  readonly cell: ActorCell;
  /** Made after an `await`, so only the settlement of that handler can return it. */
  readonly inContinuation: boolean;
}

/**
 * Warns of failures that `ctx.fail` made and that no handler replied with: `ctx.fail(…)` reads like a throw,
 * and without `return` the handler goes on. Nothing happens here until a failure is made.
 */
export class UnreturnedFailures {
  /** Failures that have not been returned yet. */
  count = 0;
  private readonly open = new Map<Failure, MadeBy>();
  private readonly warned = new Set<string>();
  private readonly runtime: Parts<'host' | 'log'>;

  constructor(runtime: UnreturnedFailures['runtime']) {
    this.runtime = runtime;
  }

  made(cell: ActorCell, failure: Failure): void {
    if (this.count === 0) this.runtime.host.soon(() => this.check());
    this.open.set(failure, { cell, inContinuation: cell.isAwaiting });
    this.count = this.open.size;
  }

  /** The result of a handler or a later reply: the failure itself, or a value that has it as an element. */
  returned(value: unknown): void {
    for (const failure of this.open.keys())
      if (failure === value || isElementOf(value, failure)) this.open.delete(failure);
    this.count = this.open.size;
  }

  /** An asynchronous handler of this actor has settled with that value. */
  settled(cell: ActorCell, value: unknown): void {
    this.returned(value);
    for (const [failure, by] of this.open) if (by.cell === cell) this.warn(failure, by);
    this.count = this.open.size;
  }

  /** Every synchronous handler has returned. A handler that awaits may still return its failure. */
  private check(): void {
    for (const [failure, by] of this.open) {
      const { cell, inContinuation } = by;
      if (cell.isCurrent && cell.isAwaiting) continue;
      if (inContinuation) this.open.delete(failure);
      else this.warn(failure, by);
    }
    this.count = this.open.size;
  }

  /** Once per definition and code. */
  private warn(failure: Failure, { cell }: MadeBy): void {
    this.open.delete(failure);
    const { path } = cell;
    const { code } = failure;
    const key = `${cell.type.name} ${code}`;
    if (this.warned.has(key) || this.warned.size >= WARNED_MAX) return;
    this.warned.add(key);
    const text =
      `${path}: ctx.fail('${code}') was not returned, so it had no effect; write \`return ctx.fail(…)\`, ` +
      'or `new Failure(…)` where it is not the reply';
    this.runtime.log.write('warn', text, { path, code });
  }
}

function isElementOf(value: unknown, failure: Failure): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return Object.values(value).includes(failure);
  } catch {
    // A proxy that throws.
    return false;
  }
}
