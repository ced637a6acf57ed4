import type { ActorSystem, Host, HostTimer } from '@troupe/core';
import { createSystem } from '@troupe/core';
import { SeededRandom, StepExecutor } from '@troupe/core/testing';

interface Event {
  at: number;
  tie: number;
  readonly node: SimulatedMachine | undefined;
  readonly life: number;
  readonly run: () => void;
  cancelled: boolean;
  /** Came due while its machine was paused. */
  held: boolean;
}

/** One machine: an actor system of its own on the world's time. A crash ends its life; nothing of that life runs again. */
export class SimulatedMachine {
  readonly name: string;
  life = 0;
  alive = false;
  pausedUntil = 0;
  /** How far its wall clock is off. */
  wallStepMs = 0;
  executor!: StepExecutor;
  system!: ActorSystem;
  callbacks: (() => void)[] = [];
  private readonly world: Simulation;

  constructor(world: Simulation, name: string) {
    this.world = world;
    this.name = name;
  }

  boot(): Host {
    this.life += 1;
    this.alive = true;
    this.callbacks = [];
    const host = this.host(this.life);
    this.executor = new StepExecutor(host, this.world.stream(`order:${this.name}:${this.life}`));
    const executor = this.executor;
    this.system = createSystem({
      name: this.name,
      host,
      executor: () => executor,
      supervise: { decide: () => 'escalate' },
    });
    return host;
  }

  crash(): void {
    this.alive = false;
    this.life += 1;
    this.callbacks = [];
  }

  get runs(): boolean {
    return this.alive && this.world.now >= this.pausedUntil;
  }

  private host(life: number): Host {
    const { world } = this;
    const random = world.stream(`chance:${this.name}:${life}`);
    const put = (run: () => void): void => {
      if (this.life === life) this.callbacks.push(run);
    };
    return {
      now: () => world.now,
      wallNow: () => 1_700_000_000_000 + Math.floor(world.now) + this.wallStepMs,
      random,
      setTimer: (ms, run): HostTimer => {
        // As in Node, no timer is shorter than a millisecond.
        const event = world.at(world.now + Math.max(1, ms), this, run);
        return {
          cancel: () => {
            event.cancelled = true;
          },
          hold: () => undefined,
        };
      },
      soon: put,
      later: put,
      log: (entry) => {
        if (entry.level === 'error' && this.life === life) world.problem(`${this.name}: ${entry.message}`);
      },
    };
  }
}

/** Virtual time for several machines. The same seed gives the same run, event by event. */
export class Simulation {
  now = 0;
  events = 0;
  /** Changes with everything that happens: two runs of one seed must agree on it. */
  trace = 0;
  readonly problems: string[] = [];
  readonly seed: number;
  private readonly nodes: SimulatedMachine[] = [];
  private heap: Event[] = [];
  private readonly ties: () => number;

  constructor(seed: number) {
    this.seed = seed;
    this.ties = this.stream('ties');
  }

  /** Chance for one purpose: a draw more here does not change what is drawn there. */
  stream(name: string): () => number {
    let hash = this.seed ^ 0x9e3779b9;
    for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    const random = new SeededRandom(hash);
    return () => random.next();
  }

  node(name: string): SimulatedMachine {
    const node = new SimulatedMachine(this, name);
    this.nodes.push(node);
    return node;
  }

  problem(text: string): void {
    this.problems.push(`t=${this.now.toFixed(1)} ${text}`);
  }

  at(time: number, node: SimulatedMachine | undefined, run: () => void): Event {
    const life = node?.life ?? 0;
    const event: Event = {
      at: Math.max(time, this.now),
      tie: this.ties(),
      node,
      life,
      run,
      cancelled: false,
      held: false,
    };
    this.push(event);
    return event;
  }

  /** Runs everything due until `until`, or until `done` says so. */
  async run(until: number, done: () => boolean = () => false): Promise<void> {
    await this.settle();
    while (!done() && this.problems.length === 0) {
      const event = this.heap[0];
      if (event === undefined || event.at > until) break;
      this.pop();
      if (event.cancelled || (event.node !== undefined && event.node.life !== event.life)) continue;
      if (event.node !== undefined && event.at < event.node.pausedUntil) {
        // In the order they were due: what a connection carried stays in order over a pause.
        if (!event.held) event.tie = event.at * 1e-7;
        event.held = true;
        event.at = event.node.pausedUntil;
        this.push(event);
        continue;
      }
      this.now = event.at;
      this.events += 1;
      this.trace = (Math.imul(this.trace ^ Math.floor(this.now * 16), 0x01000193) + 1) | 0;
      event.run();
      await this.settle();
    }
    if (this.problems.length === 0 && !done()) this.now = Math.max(this.now, until);
  }

  /** Until no machine has anything to do and no promise brings anything back. */
  private async settle(): Promise<void> {
    for (;;) {
      let busy = false;
      for (const node of this.nodes) {
        while (node.runs && this.stepNode(node)) busy = true;
      }
      if (busy) continue;
      // A macrotask comes after every microtask that can run.
      await new Promise((resolve) => setImmediate(resolve));
      if (
        !this.nodes.some((node) => node.runs && (node.callbacks.length > 0 || node.executor.readyCount > 0))
      )
        return;
    }
  }

  private stepNode(node: SimulatedMachine): boolean {
    if (node.executor.step()) return true;
    if (node.callbacks.length === 0) return false;
    const due = node.callbacks;
    node.callbacks = [];
    for (const run of due) run();
    return true;
  }

  private push(event: Event): void {
    const { heap } = this;
    heap.push(event);
    let at = heap.length - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!earlier(event, heap[up] as Event)) break;
      heap[at] = heap[up] as Event;
      at = up;
    }
    heap[at] = event;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && earlier(heap[down + 1] as Event, heap[down] as Event)) down += 1;
      if (!earlier(heap[down] as Event, last)) break;
      heap[at] = heap[down] as Event;
      at = down;
    }
    heap[at] = last;
  }
}

function earlier(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}
