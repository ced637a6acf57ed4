import type { ActorCell } from '../actor/cell.js';
import type { AnyDefinition } from '../define/definition.js';
import type { RefClass } from '../ref/ref.js';
import type { PoolPlan } from './pool-plan.js';
import { type RouterBase, routerClassOf } from './router-class.js';

/** The ref of a pool's keeper, and so the pool itself as its users see it: what they watch, stop and look up. */
export interface PoolRouter extends RouterBase {
  readonly size: number;
  resize(size: number): void;
}

/** The ref class of a keeper of such routees. A keeper's arguments are its plan. */
export function poolRouterClassOf(definition: AnyDefinition): RefClass {
  return class extends routerClassOf(definition) implements PoolRouter {
    private readonly plan: PoolPlan;

    constructor(cell: ActorCell) {
      super(cell, definition);
      this.plan = cell.args as PoolPlan;
      this.plan.keeperRef = this;
      this.picker = this.plan.pickerFor(this);
    }

    get size(): number {
      return this.plan.size;
    }

    resize(size: number): void {
      this.plan.resize(size);
    }
  };
}
