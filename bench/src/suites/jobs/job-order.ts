// Clients of peers load this file too, so it imports no package of Troupe.
import type { Payload } from './payload.js';

/** The order of the jobs in a row: by ten priorities, or one at a time of each of a thousand keys. */
export type JobOrder = 'priorities' | 'keys';

const PRIORITIES = 10;
const KEYS = 1_000;

/** From 0 to 9. */
export function priorityOf({ id }: Payload): number {
  return id % PRIORITIES;
}

export function keyOf({ id }: Payload): string {
  return `key-${id % KEYS}`;
}
