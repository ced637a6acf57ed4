/** Gives the key that a message belongs to: equal keys reach the same routee. */
export type KeyOf = (message: string, payload: unknown) => string | number;

export interface PullOptions {
  /** Messages that one worker has at a time: the one it works on and those that wait at its door. Default 1. */
  readonly window?: number;
  /** How often a message whose handler failed is given out before the failure counts. Default 1: no second try. */
  readonly attempts?: number;
}

/**
 * Who gets a message.
 *
 *   round-robin    one after the other
 *   random         anyone
 *   least-loaded   whoever has the fewest messages waiting
 *   broadcast      everyone; an ask is answered by the first reply
 *   { hash }       the one that is responsible for the key (consistent hashing)
 *   { pull }       whoever is free: work waits in the pool, not at a busy worker's door
 */
export type Routing =
  | 'round-robin'
  | 'random'
  | 'least-loaded'
  | 'broadcast'
  | { readonly hash: KeyOf }
  | { readonly pull: PullOptions };

export const ROUTINGS_BY_NAME: readonly string[] = ['round-robin', 'random', 'least-loaded', 'broadcast'];

export function nameOfRouting(routing: Routing): string {
  if (typeof routing === 'string') return routing;
  return 'hash' in routing ? 'consistent hash' : `pull, window ${routing.pull.window ?? 1}`;
}
