/** Dead letters whose failures differ in numbers, ids and quoted texts alone. */
export interface DeadLetterGroup {
  /** A field of a search. Empty: of the rest, where there are too many groups. */
  readonly fingerprint: string;
  /** The name of their definition. */
  readonly exec: string;
  /** Of their failure. */
  readonly name: string;
  /** Of their failure; empty: none. */
  readonly code: string;
  /** The message, with # in place of numbers and ids. */
  readonly message: string;
  /** How many. */
  readonly count: number;
  /** When the first one died. */
  readonly firstAt: number;
  /** When the last one died. */
  readonly lastAt: number;
  /** The numbers of some. */
  readonly jobs: readonly number[];
}
