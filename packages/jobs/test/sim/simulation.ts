import type { ActorSystem, Host, HostTimer } from '@troupe/core';
import { createSystem } from '@troupe/core';
import { SeededRandom, StepExecutor } from '@troupe/core/testing';
import { textOf } from '../no-dead-letters.js';

interface Event {
  at: number;
  tie: number;
  readonly machine: SimulatedMachine | undefined;
  readonly incarnation: number;
  readonly run: () => void;
  cancelled: boolean;
  /** It was due while its machine was paused. */
  postponed: boolean;
}

/**
 * One machine with an actor system of its own, on virtual time. After a crash no code of that incarnation
 * runs again.
 */
export class SimulatedMachine {
  readonly name: string;
  incarnation = 0;
  alive = false;
  pausedUntil = 0;
  /** How far its wall clock is off. */
  wallStepMs = 0;
  executor!: StepExecutor;
  system!: ActorSystem;
  callbacks: (() => void)[] = [];
  private readonly simulation: Simulation;

  constructor(simulation: Simulation, name: string) {
    this.simulation = simulation;
    this.name = name;
  }

  boot(): Host {
    this.incarnation += 1;
    this.alive = true;
    this.callbacks = [];
    const host = this.host(this.incarnation);
    this.executor = new StepExecutor(host, this.simulation.stream(`order:${this.name}:${this.incarnation}`));
    const executor = this.executor;
    this.system = createSystem({
      name: this.name,
      host,
      executor: () => executor,
      supervise: { decide: () => 'escalate' },
    });
    const { incarnation } = this;
    this.system.on('dead-letter', ({ letter }) => {
      if (this.incarnation === incarnation)
        this.simulation.problem(`${this.name}: dead letter ${textOf(letter)}`);
    });
    return host;
  }

  crash(): void {
    this.alive = false;
    this.incarnation += 1;
    this.callbacks = [];
  }

  get runs(): boolean {
    return this.alive && this.simulation.now >= this.pausedUntil;
  }

  private host(incarnation: number): Host {
    const { simulation } = this;
    const random = simulation.stream(`chance:${this.name}:${incarnation}`);
    const put = (run: () => void): void => {
      if (this.incarnation === incarnation) this.callbacks.push(run);
    };
    return {
      now: () => simulation.now,
      wallNow: () => 1_700_000_000_000 + Math.floor(simulation.now) + this.wallStepMs,
      random,
      setTimer: (ms, run): HostTimer => {
        // As in Node, no timer is shorter than a millisecond.
        const event = simulation.at(simulation.now + Math.max(1, ms), this, run);
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
        if (entry.level === 'error' && this.incarnation === incarnation)
          simulation.problem(`${this.name}: ${entry.message}`);
      },
    };
  }
}

/** Virtual time for several machines. The same seed gives the same run, event by event. */
export class Simulation {
  now = 0;
  events = 0;
  /** A hash of all events: two runs of one seed must agree on it. */
  trace = 0;
  readonly problems: string[] = [];
  readonly seed: number;
  private readonly machines: SimulatedMachine[] = [];
  private heap: Event[] = [];
  private readonly ties: () => number;

  constructor(seed: number) {
    this.seed = seed;
    this.ties = this.stream('ties');
  }

  /** Random numbers for one purpose: one more here does not change those of another purpose. */
  stream(name: string): () => number {
    let hash = this.seed ^ 0x9e3779b9;
    for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    const random = new SeededRandom(hash);
    return () => random.next();
  }

  machine(name: string): SimulatedMachine {
    const machine = new SimulatedMachine(this, name);
    this.machines.push(machine);
    return machine;
  }

  problem(text: string): void {
    this.problems.push(`t=${this.now.toFixed(1)} ${text}`);
  }

  at(time: number, machine: SimulatedMachine | undefined, run: () => void): Event {
    const incarnation = machine?.incarnation ?? 0;
    const event: Event = {
      at: Math.max(time, this.now),
      tie: this.ties(),
      machine,
      incarnation,
      run,
      cancelled: false,
      postponed: false,
    };
    this.push(event);
    return event;
  }

  /** Runs all events until `until`, or until `done` returns true. */
  async run(until: number, done: () => boolean = () => false): Promise<void> {
    await this.settle();
    while (!done() && this.problems.length === 0) {
      const event = this.heap[0];
      if (event === undefined || event.at > until) break;
      this.pop();
      if (event.cancelled || (event.machine !== undefined && event.machine.incarnation !== event.incarnation))
        continue;
      if (event.machine !== undefined && event.at < event.machine.pausedUntil) {
        // In the order in which they were due: messages of a connection stay in order over a pause.
        if (!event.postponed) event.tie = event.at * 1e-7;
        event.postponed = true;
        event.at = event.machine.pausedUntil;
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

  /** Until no machine has work and no promise is about to resume one. */
  private async settle(): Promise<void> {
    for (;;) {
      let busy = false;
      for (const machine of this.machines) {
        while (machine.runs && this.step(machine)) busy = true;
      }
      if (busy) continue;
      // A macrotask comes after every microtask that can run.
      await new Promise((resolve) => setImmediate(resolve));
      if (
        !this.machines.some(
          (machine) => machine.runs && (machine.callbacks.length > 0 || machine.executor.readyCount > 0),
        )
      )
        return;
    }
  }

  private step(machine: SimulatedMachine): boolean {
    if (machine.executor.step()) return true;
    if (machine.callbacks.length === 0) return false;
    const due = machine.callbacks;
    machine.callbacks = [];
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
