import type { HandlerMap, PayloadArgs } from '../actor/definition.js';
import type { RefOf } from '../actor/ref.js';
import { OptionError } from '../errors.js';

export interface ToActorOptions {
  /** Ends the transfer. An item that waits for room by then is delivered when there is some, but not waited for or counted. */
  readonly signal?: AbortSignal;
}

/** Messages that take one payload of this type. */
export type MessagesFor<H extends HandlerMap, T> = {
  [K in keyof H]: [T] extends PayloadArgs<H[K]> ? Extract<K, string> : never;
}[keyof H];

/**
 * Sends everything a source gives to an actor, one item at a time, and waits for room in its mailbox: the source is not
 * asked for the next item before. Resolves with the number of items sent; rejects when the source fails or the actor has
 * stopped, and then closes the source.
 */
export async function toActor<T, H extends HandlerMap>(
  source: AsyncIterable<T> | Iterable<T>,
  ref: RefOf<H>,
  message: MessagesFor<H, T>,
  options: ToActorOptions = {},
): Promise<number> {
  // `MessagesFor` has checked that this message takes such an item; whoever has no types is told here.
  const send = (ref.send as Record<string, (item: T) => Promise<void>>)[message];
  if (send === undefined)
    throw new OptionError('toActor.message', message, `${ref.path} has no such message`);
  const isAborted = (): boolean => options.signal?.aborted ?? false;
  let sent = 0;
  if (isAborted()) return sent;
  for await (const item of source) {
    if (isAborted() || !(await isTaken(send.call(ref.send, item), options.signal))) break;
    sent += 1;
    if (isAborted()) break;
  }
  return sent;
}

/** False when the transfer was ended while the item waited for room. */
async function isTaken(sending: Promise<void>, signal: AbortSignal | undefined): Promise<boolean> {
  const taken = sending.then(() => true);
  if (signal === undefined) return taken;
  let leave = (): void => undefined;
  const aborted = new Promise<boolean>((resolve) => {
    leave = () => resolve(false);
  });
  signal.addEventListener('abort', leave);
  try {
    return await Promise.race([taken, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
