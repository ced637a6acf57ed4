// The first word of a record has its kind, its flags, and above them the number of the handler. A message
// goes on with the address of its actor (three words), an ask with its terms; then come the contexts of
// middleware, where the record has some, and the payload.

export const TELL = 0;
export const ASK = 1;
export const REPLY = 2;
export const REFUSE = 3;
export const SIGNAL = 4;
/** The record itself comes by the port; of a message its head follows. */
export const BY_PORT = 5;
const KIND_MASK = 0b111;

/** It was written while another record was: shapes and layouts of other records are not used in it. */
export const ALONE = 0b1000;
/** Contexts of middleware stand before the payload. */
export const HAS_CONTEXTS = 0b1_0000;
const HANDLER_SHIFT = 5;

export const WORD_BYTES = 4;
/** First word and address of a message. */
export const HEAD_BYTES = 4 * WORD_BYTES;

export function firstWord(kind: number, handler: number, hasContexts: boolean): number {
  return kind | (hasContexts ? HAS_CONTEXTS : 0) | (handler << HANDLER_SHIFT);
}

export function kindOf(first: number): number {
  return first & KIND_MASK;
}

export function handlerOf(first: number): number {
  return first >> HANDLER_SHIFT;
}

export function isMessage(kind: number): boolean {
  return kind === TELL || kind === ASK;
}
