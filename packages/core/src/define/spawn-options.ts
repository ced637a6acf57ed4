import type { Middleware } from '../middleware/middleware.js';
import type { RestartType, SupervisionPolicy } from '../supervision/policy.js';

export interface SpawnOptions {
  /** Unique among living siblings; letters, digits and `_ . : @ -`. Without one the actor is anonymous. */
  readonly name?: string;
  /** What its parent does when it ends; default `transient`. */
  readonly restart?: RestartType;
  /** When it stops for good, its supervisor stops too. */
  readonly significant?: boolean;
  /** Its policy for its own children, instead of the definition's. */
  readonly supervise?: SupervisionPolicy;
  /** For this actor and everything it spawns. */
  readonly middleware?: readonly Middleware[];
}
