import { type OptionRule, options, rule, wholeNumber } from '../option-check.js';

/** Gives the key that a message belongs to: equal keys reach the same routee. */
export type KeyOf = (message: string, payload: unknown) => string | number;

export interface PullOptions {
  /** Messages that one worker has at a time: the running one and those in its mailbox. Default 1. */
  readonly window?: number | undefined;
  /**
   * How often a message whose handler failed is given out before the failure counts. Default 1: no second
   * try.
   */
  readonly attempts?: number | undefined;
}

/**
 * The choice of a routee.
 *
 *   round-robin    each in turn
 *   random         any routee
 *   least-loaded   the routee with the fewest waiting messages
 *   broadcast      every routee; an ask is answered by the first reply
 *   { hash }       the routee that is responsible for the key (consistent hashing)
 *   { pull }       a free routee: work waits in the pool, not in the mailbox of a busy worker
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
