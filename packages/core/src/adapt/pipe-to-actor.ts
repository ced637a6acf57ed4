import type { HandlerMap, PayloadArgs } from '../define/actor-definition.js';
import { OptionError } from '../errors/error-classes.js';
import { abortSignal, checkOptions } from '../option-check.js';
import type { RefOf } from '../ref/actor-ref.js';

export interface ToActorOptions {
  /** Ends the transfer. An item that still waits for room is not delivered. */
  readonly signal?: AbortSignal | undefined;
}

/** Messages that take one payload of this type. */
export type MessagesFor<H extends HandlerMap, T> = {
  [K in keyof H]: [T] extends PayloadArgs<H[K]> ? Extract<K, string> : never;
}[keyof H];

/**
 * Sends the items of a source to an actor, one at a time, and waits for room in its mailbox before it takes
 * the next item from the source. Resolves with the number of items sent; rejects when the source fails or the
 * actor has stopped, and then closes the source.
 */
export async function toActor<T, H extends HandlerMap>(
  source: AsyncIterable<T> | Iterable<T>,
  ref: RefOf<H>,
  message: MessagesFor<H, T>,
  options: ToActorOptions = {},
): Promise<number> {
  checkOptions('toActor', options, { signal: abortSignal });
  const { signal } = options;
  // `MessagesFor` has checked that this message takes such an item; a caller without types gets an error
  // here.
  const send = ref.with({ signal }).send as Record<string, (item: T) => Promise<void>>;
  if (typeof send[message] !== 'function')
    throw new OptionError('toActor.message', message, `${ref.path} has no such message`);
  let sent = 0;
  if (isAborted(signal)) return sent;
  for await (const item of source) {
    if (!(await isTaken(() => send[message]?.(item) as Promise<void>, signal))) break;
    sent += 1;
    if (isAborted(signal)) break;
  }
  return sent;
}

/** False when the transfer was ended before there was room. */
async function isTaken(send: () => Promise<void>, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (isAborted(signal)) return false;
    throw error;
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}
