import { type OptionRule, options, rule, wholeNumber } from '../option-check.js';

/** Gives the key that a message belongs to: equal keys reach the same routee. */
export type KeyOf = (message: string, payload: unknown) => string | number;

export interface PullOptions {
  /** Messages that one worker has at a time: the one it works on and those that wait at its door. Default 1. */
  readonly window?: number | undefined;
  /** How often a message whose handler failed is given out before the failure counts. Default 1: no second try. */
  readonly attempts?: number | undefined;
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

const namedRouting = rule(`one of ${ROUTINGS_BY_NAME.join(', ')}, or { hash } or { pull }`, (value) =>
  ROUTINGS_BY_NAME.includes(value),
);
const hashRouting = options(
  { hash: rule('a function that gives the key', (value) => typeof value === 'function') },
  ['hash'],
);
const pullRouting = options({ pull: options({ window: wholeNumber(1), attempts: wholeNumber(1) }) }, [
  'pull',
]);

export const routingRule: OptionRule = (value, option) => {
  if (typeof value === 'object' && value !== null) {
    if ('hash' in value) return hashRouting(value, option);
    if ('pull' in value) return pullRouting(value, option);
  }
  return namedRouting(value, option);
};

export function nameOfRouting(routing: Routing): string {
  if (typeof routing === 'string') return routing;
  return 'hash' in routing ? 'consistent hash' : `pull, window ${routing.pull.window ?? 1}`;
}
