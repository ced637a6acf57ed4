import type { AnyDefinition } from '../define/actor-definition.js';
import { checkDistinct } from '../middleware/check-middleware.js';
import type { Middleware } from '../middleware/middleware.js';
import { Pipeline } from '../middleware/pipeline.js';
import { ActorType } from './actor-type.js';
import type { RuntimeParts } from './runtime-parts.js';

/** The actor types of a system: one for each definition with the same middleware. */
export class ActorTypeCache {
  private readonly runtime: RuntimeParts;
  private readonly systemMiddleware: readonly Middleware[];
  /**
   * Weak: a spawn with middleware of its own makes a list of its own, and a definition may be made for one
   * actor; each is collected with the last actor that has it.
   */
  private readonly types = new WeakMap<readonly Middleware[], WeakMap<AnyDefinition, ActorType>>();
  private last: ActorType | undefined = undefined;

  constructor(runtime: RuntimeParts, systemMiddleware: readonly Middleware[]) {
    this.runtime = runtime;
    this.systemMiddleware = systemMiddleware;
  }

  of(definition: AnyDefinition, middleware: readonly Middleware[]): ActorType {
    const { last } = this;
    if (last !== undefined && last.definition === definition && middleware === this.systemMiddleware)
      return last;
    let byDefinition = this.types.get(middleware);
    if (byDefinition === undefined) {
      byDefinition = new WeakMap();
      this.types.set(middleware, byDefinition);
    }
    let type = byDefinition.get(definition);
    if (type === undefined) {
      const all = [...middleware, ...(definition['~spec'].middleware ?? [])];
      checkDistinct(all);
      type = new ActorType(this.runtime, definition, Pipeline.of(all, hooksOf(definition)));
      byDefinition.set(definition, type);
    }
    if (middleware === this.systemMiddleware) this.last = type;
    return type;
  }
}

function hooksOf(definition: AnyDefinition): 'all' | 'sends' {
  return definition['~represents'] === undefined ? 'all' : 'sends';
}
