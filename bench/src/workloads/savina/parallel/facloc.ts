import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const gridSize = 500;
const alpha = 2;
const facilityCost = Math.SQRT2 * gridSize;
const cutOffDepth = 3;
const depthMax = 12;
const seed = 123_456;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Area {
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

function middle({ x, y, side }: Area): Point {
  return { x: x + side / 2, y: y + side / 2 };
}

/** The index of the quarter that contains the point. */
function quarterOf({ x, y, side }: Area, point: Point): number {
  return (point.x >= x + side / 2 ? 1 : 0) + (point.y >= y + side / 2 ? 2 : 0);
}

function quarters({ x, y, side }: Area): Area[] {
  const half = side / 2;
  return [0, 1, 2, 3].map((index) => ({
    x: x + (index % 2) * half,
    y: y + Math.floor(index / 2) * half,
    side: half,
  }));
}

/** The customers of a leaf and the cost of serving them from the nearest facilities. */
class Demand {
  readonly area: Area;
  readonly facilities: Point[];
  customers: Point[] = [];
  private cost = 0;

  constructor(area: Area, facilities: readonly Point[]) {
    this.area = area;
    this.facilities = [...facilities];
  }

  /** True if a new facility in the middle of the area costs less. */
  add(point: Point): boolean {
    this.customers.push(point);
    let nearest = Number.POSITIVE_INFINITY;
    for (const { x, y } of this.facilities) nearest = Math.min(nearest, Math.hypot(x - point.x, y - point.y));
    this.cost += nearest;
    return this.cost > alpha * facilityCost;
  }
}

interface Tally {
  readonly customers: number;
  readonly facilities: number;
}

interface QuadrantArgs {
  readonly area: Area;
  readonly depth: number;
  readonly facilities: readonly Point[];
  readonly parent: Ref | undefined;
}

interface Quadrant {
  readonly depth: number;
  readonly parent: Ref | undefined;
  readonly demand: Demand;
  children: readonly Ref[];
  opened: number;
  waiting: number;
  total: Tally;
}

function customerPoints(count: number): Point[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => ({ x: random.next() * gridSize, y: random.next() * gridSize }));
}

const whole: Area = { x: 0, y: 0, side: gridSize };

/** The version without actors: the same quadrants as objects. */
class PlainQuadrant {
  private readonly depth: number;
  private readonly demand: Demand;
  private children: PlainQuadrant[] = [];
  private opened = 0;

  constructor(area: Area, depth: number, facilities: readonly Point[]) {
    this.depth = depth;
    this.demand = new Demand(area, facilities);
  }

  add(point: Point): void {
    const { area } = this.demand;
    const child = this.children[quarterOf(area, point)];
    if (child !== undefined) child.add(point);
    else if (this.demand.add(point) && this.depth < depthMax) this.split();
  }

  private split(): void {
    const { area, facilities, customers } = this.demand;
    const known = [...facilities, middle(area)];
    this.opened = 1;
    this.children = quarters(area).map((part) => new PlainQuadrant(part, this.depth + 1, known));
    for (const point of customers) this.children[quarterOf(area, point)]?.add(point);
    this.demand.customers = [];
  }

  count(): Tally {
    const parts = this.children.map((child) => child.count());
    return {
      customers: parts.reduce((sum, part) => sum + part.customers, this.demand.customers.length),
      facilities: parts.reduce((sum, part) => sum + part.facilities, this.opened),
    };
  }
}

/** Online facility location: a quad-tree of actors that splits while customers arrive one by one. */
export const facloc: Workload = {
  name: 'facloc',
  unit: 'customers',
  prepare(system, scale) {
    const points = customerPoints(scaled(100_000, scale, 100));
    const begin = system.tell<Ref>('begin');
    const next = system.tell('next');
    const customer = system.tell<{ point: Point; producer: Ref | undefined }>('customer');
    const facility = system.tell<Point>('facility');
    const count = system.tell('count');
    const counted = system.tell<Tally>('counted');
    let done = new Deferred<Tally>();
    let opened = 0;
    const split = (state: Quadrant, self: Ref): void => {
      const { area, facilities, customers } = state.demand;
      const place = middle(area);
      state.opened = 1;
      opened += 1;
      state.children = quarters(area).map((part) =>
        system.spawn(QuadrantActor, {
          area: part,
          depth: state.depth + 1,
          facilities: [...facilities, place],
          parent: self,
        }),
      );
      for (const point of customers) {
        const child = state.children[quarterOf(area, point)];
        if (child !== undefined) customer(child, { point, producer: undefined });
      }
      state.demand.customers = [];
      // The parent learns of large facilities only; small ones serve their own quadrant.
      if (state.parent !== undefined && state.depth < cutOffDepth) facility(state.parent, place);
    };
    const report = (state: Quadrant): void => {
      if (state.parent === undefined) done.resolve(state.total);
      else counted(state.parent, state.total);
    };
    const QuadrantActor = system.define({
      name: 'quadrant',
      state: ({ area, depth, facilities, parent }: QuadrantArgs): Quadrant => ({
        depth,
        parent,
        demand: new Demand(area, facilities),
        children: [],
        opened: 0,
        waiting: 0,
        total: { customers: 0, facilities: 0 },
      }),
      handlers: {
        customer(ctx, { point, producer }: { point: Point; producer: Ref | undefined }) {
          const { state } = ctx;
          const child = state.children[quarterOf(state.demand.area, point)];
          if (child !== undefined) customer(child, { point, producer: undefined });
          else if (state.demand.add(point) && state.depth < depthMax) split(state, ctx.self);
          if (producer !== undefined) next(producer);
        },
        facility(ctx, place: Point) {
          ctx.state.demand.facilities.push(place);
        },
        count(ctx) {
          const { state } = ctx;
          state.total = { customers: state.demand.customers.length, facilities: state.opened };
          state.waiting = state.children.length;
          for (const child of state.children) count(child);
          if (state.waiting > 0) return;
          report(state);
          ctx.stop();
        },
        counted(ctx, part: Tally) {
          const { state } = ctx;
          state.total = {
            customers: state.total.customers + part.customers,
            facilities: state.total.facilities + part.facilities,
          };
          state.waiting -= 1;
          if (state.waiting > 0) return;
          report(state);
          ctx.stop();
        },
      },
    });
    const Producer = system.define({
      name: 'customer-producer',
      state: () => ({ sent: 0, root: undefined as Ref | undefined }),
      handlers: {
        begin(ctx, root: Ref) {
          ctx.state.root = root;
          next(ctx.self);
        },
        next(ctx) {
          const { state } = ctx;
          const point = points[state.sent];
          if (state.root === undefined) return;
          if (point === undefined) {
            count(state.root);
            ctx.stop();
            return;
          }
          state.sent += 1;
          customer(state.root, { point, producer: ctx.self });
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      opened = 0;
      const facilities = [middle(whole)];
      const root = system.spawn(QuadrantActor, { area: whole, depth: 0, facilities, parent: undefined });
      begin(system.spawn(Producer), root);
      const total = await done.promise;
      return {
        attempted: points.length,
        completed: total.customers,
        oracle: total.facilities === opened && opened > 0,
      };
    };
  },
  plain(scale) {
    const points = customerPoints(scaled(100_000, scale, 100));
    return () => {
      const root = new PlainQuadrant(whole, 0, [middle(whole)]);
      for (const point of points) root.add(point);
      const total = root.count();
      return { attempted: points.length, completed: total.customers, oracle: total.facilities > 0 };
    };
  },
};
