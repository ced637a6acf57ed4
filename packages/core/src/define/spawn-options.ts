import { middlewareList } from '../middleware/check-middleware.js';
import type { Middleware } from '../middleware/middleware.js';
import { anything, checkOptions, flag, oneOf, rule } from '../option-check.js';
import {
  RESTART_TYPES,
  type RestartType,
  type SupervisionPolicy,
  supervisionPolicy,
} from './supervision-policy.js';

export interface SpawnOptions {
  /** Unique among living siblings; letters, digits and `_ . : @ -`. Default: none, the actor is anonymous. */
  readonly name?: string | undefined;
  /** Whether its parent starts it again when it ends; default `transient`. */
  readonly restart?: RestartType | undefined;
  /** When it stops for good, its supervisor stops too. Default false. */
  readonly significant?: boolean | undefined;
  /** Its policy for its own children, instead of the definition's. */
  readonly supervise?: SupervisionPolicy | undefined;
  /**
   * The thread on which it runs: `main`, `any-thread`, or the name of one. Default: that of its parent. Needs
   * the option `threads` of the system.
   */
  readonly on?: string | undefined;
  /** For this actor and everything it spawns. */
  readonly middleware?: readonly Middleware[] | undefined;
}

/** Spawn options with the arguments of the state, whatever their type. */
export interface SpawnOptionsWithArgs extends SpawnOptions {
  readonly args?: unknown;
}

const SPAWN_RULES = {
  args: anything,
  name: anything,
  restart: oneOf(RESTART_TYPES),
  significant: flag,
  supervise: supervisionPolicy,
  on: rule('main, any-thread or the name of a thread', (value) => typeof value === 'string'),
  middleware: middlewareList,
};

/** The name is checked by the registry. Most actors are spawned with arguments alone: those need no check. */
export function checkSpawnOptions(options: SpawnOptionsWithArgs): void {
  if (!hasArgsAlone(options)) checkOptions('spawn', options, SPAWN_RULES);
}

function hasArgsAlone(options: SpawnOptionsWithArgs): boolean {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false;
  for (const option in options) if (option !== 'args') return false;
  return true;
}
