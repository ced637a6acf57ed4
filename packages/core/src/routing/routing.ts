import { OptionError } from '../errors.js';
import { onlyKnown, whole } from '../option-check.js';

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

const ROUTINGS_BY_NAME: readonly unknown[] = ['round-robin', 'random', 'least-loaded', 'broadcast'];

export function checkRouting(option: string, routing: Routing): void {
  if (ROUTINGS_BY_NAME.includes(routing)) return;
  if (typeof routing !== 'object' || routing === null || !('hash' in routing || 'pull' in routing))
    throw new OptionError(
      option,
      routing,
      `needed one of ${ROUTINGS_BY_NAME.join(', ')}, or { hash } or { pull }`,
    );
  if ('hash' in routing) {
    onlyKnown(option, routing, ['hash']);
    if (typeof routing.hash !== 'function')
      throw new OptionError(`${option}.hash`, routing.hash, 'needed a function that gives the key');
    return;
  }
  onlyKnown(option, routing, ['pull']);
  onlyKnown(`${option}.pull`, routing.pull, ['window', 'attempts']);
  whole(`${option}.pull.window`, routing.pull.window ?? 1, 1);
  whole(`${option}.pull.attempts`, routing.pull.attempts ?? 1, 1);
}

export function nameOfRouting(routing: Routing): string {
  if (typeof routing === 'string') return routing;
  return 'hash' in routing ? 'consistent hash' : `pull, window ${routing.pull.window ?? 1}`;
}
