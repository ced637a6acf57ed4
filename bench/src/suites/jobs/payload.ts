// The payload and the result of a job in every row and on every system.
// Worker processes of peers load this file as well, so it imports no package of Troupe.

/** Compact JSON of a payload has exactly the number of bytes given to its source. */
export interface Payload {
  readonly id: number;
  readonly text: string;
}

export interface Result {
  readonly id: number;
  readonly sum: number;
}

const SAMPLED_CHARACTERS = 8;

/** The handler of every worker. */
export function resultOf({ id, text }: Payload): Result {
  return { id, sum: checksum(id, text) };
}

/** A hash of the id and of characters spread over the text. */
function checksum(id: number, text: string): number {
  const step = (text.length - 1) / (SAMPLED_CHARACTERS - 1);
  let sum = id;
  for (let i = 0; i < SAMPLED_CHARACTERS; i += 1)
    sum = Math.imul(sum ^ text.charCodeAt(Math.trunc(i * step)), 0x01000193);
  return sum >>> 0;
}

/** True if the result is that of this payload. */
export function isResultOf(payload: Payload, result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  const { id, sum } = result as Partial<Result>;
  return id === payload.id && sum === checksum(payload.id, payload.text);
}
