import type { ActorContext } from '../define/actor-context.js';
import type { ActorDefinition } from '../define/actor-definition.js';
import { defineActor } from '../define/define-actor.js';
import { checkOption, checkOptionNames, wholeNumber } from '../option-check.js';
import type { RefOf } from '../ref/actor-ref.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { Spawner } from '../routing/pool.js';
import { ReadBuffer } from './read-buffer.js';

const CAPACITY_DEFAULT = 16;

export interface InboxOptions {
  /** The name of its actor. Default: none. */
  readonly name?: string | undefined;
  /** Items that wait for the reader, and as many again in the mailbox. Default 16. */
  readonly capacity?: number | undefined;
}

export type InboxHandlers<T> = {
  readonly put: (ctx: ActorContext<ReadBuffer<T>>, item: T) => Promise<void> | undefined;
  readonly end: (ctx: ActorContext<ReadBuffer<T>>) => void;
};

/** An actor whose messages are read by iteration. */
export interface Inbox<T> extends AsyncIterableIterator<T>, AsyncDisposable {
  /** `put` gives an item, `end` closes the inbox. */
  readonly ref: RefOf<InboxHandlers<T>>;
}

/**
 * Messages as an AsyncIterable. The reader takes them one by one; when it is slow the buffer fills, then the
 * mailbox, then `offer` returns 'full' and `send` waits. Leaving the loop stops the actor; its end ends the
 * loop, after the buffered items.
 */
export function fromActor<T>(owner: Spawner, options: InboxOptions = {}): Inbox<T> {
  checkOptionNames('fromActor', options, ['name', 'capacity']);
  const { name } = options;
  const capacity = checkOption('fromActor.capacity', options.capacity ?? CAPACITY_DEFAULT, wholeNumber(1));
  const buffer = new ReadBuffer<T>(capacity);
  const definition = inboxOf(capacity) as ActorDefinition<InboxHandlers<T>, ReadBuffer<T>, ReadBuffer<T>>;
  const ref = owner.spawn(definition, { args: buffer, name }) as RefOf<InboxHandlers<T>>;
  const { cell } = ref as unknown as CellRef;
  // Not a hook: a kill runs none.
  cell.ensureCold().onStopped.push(() => buffer.close());
  const stop = (): void => (ref as unknown as CellRef).cell.requestStop();
  return {
    ref,
    next: () => buffer.next(),
    return: async () => {
      stop();
      buffer.close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      stop();
      buffer.close();
    },
  };
}

/** By capacity: a definition holds its mailbox's, and one per inbox would stay behind in the system. */
const definitions = new Map<number, unknown>();

function inboxOf(capacity: number): unknown {
  const known = definitions.get(capacity);
  if (known !== undefined) return known;
  const handlers: InboxHandlers<unknown> = {
    put: (ctx, item) => ctx.state.put(item),
    end: (ctx) => ctx.stop(),
  };
  const made = defineActor('inbox', {
    state: (buffer: ReadBuffer<unknown>) => buffer,
    handlers,
    mailbox: { capacity },
  });
  definitions.set(capacity, made);
  return made;
}
