import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import type { RefClass } from '../ref/actor-ref.js';
import type { PoolState } from './pool-state.js';
import { type RouterBase, routerClassOf } from './router-class.js';

/** The ref of a pool's supervisor: the pool as its users watch, stop and look it up. */
export interface PoolRouter extends RouterBase {
  readonly size: number;
  resize(size: number): void;
}

/** The ref class of a supervisor of such routees. A supervisor's arguments are its pool. */
export function poolRouterClassOf(definition: AnyDefinition): RefClass {
  return class extends routerClassOf(definition) implements PoolRouter {
    private readonly pool: PoolState;

    constructor(cell: ActorCell) {
      super(cell, definition);
      this.pool = cell.args as PoolState;
      this.pool.supervisorRef = this;
      this.selector = this.pool.selectorFor(this);
    }

    get size(): number {
      return this.pool.size;
    }

    override toString(): string {
      return `pool(${this.cell.path})`;
    }

    resize(size: number): void {
      this.pool.resize(size);
    }
  };
}
