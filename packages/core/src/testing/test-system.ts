import { isOf } from '../actor/name-registry.js';
import type { AnyDefinition, HandlerMap, StateOf } from '../define/actor-definition.js';
import { checkIsDefinition } from '../define/check-definition.js';
import { MisuseError } from '../errors/error-classes.js';
import { checkOption, wholeNumber } from '../option-check.js';
import type { ActorRef, AnyRef, AskMethods, AskOptions, RefOf, SendMethods } from '../ref/actor-ref.js';
import { checkRefArgument } from '../ref/check-ref-argument.js';
import type { RuntimeEvent } from '../runtime-event.js';
import { type ActorSystem, createSystem } from '../system.js';
import type { SystemOptions } from '../system-options.js';
import { ManualHost } from './manual-host.js';
import { unsettledWorlds } from './node-unsettled-worlds.js';
import { type Probe, type ProbeOptions, type ProbeRecord, spawnProbe } from './probe.js';
import { SeededRandom } from './seeded-random.js';
import { StepExecutor } from './step-executor.js';
import { PendingPromiseError } from './testing-errors.js';
import { type ThreadWorld, VirtualThreads } from './threads/virtual-threads.js';
import { busyActors, unansweredError } from './unanswered-ask.js';

const STEPS_MAX = 10_000_000;
/** Older events are forgotten, half of them at a time. */
const EVENTS_MAX = 100_000;

/** A system in virtual time: the production runtime on a manual host and a stepping executor. */
export interface TestSystem extends AsyncDisposable {
  /** The system itself. */
  readonly system: ActorSystem;
  /** Clock, chance and log of the world. */
  readonly host: ManualHost;
  /** One turn of one ready actor; false when no actor was ready. */
  step(): boolean;
  /** Runs until no actor is ready and no settled promise makes one ready. Time stands still. */
  settle(): Promise<void>;
  /**
   * Settles, and resolves or rejects as the promise does: `await world.settle(system.stop(ref))`. Rejects
   * with ERR_TEST_PENDING when the world has settled and the promise has not.
   */
  settle<T>(promise: PromiseLike<T>): Promise<T>;
  /** Settles, moves time by `ms` from timer to timer, and settles after each and at the end. */
  advance(ms: number): Promise<void>;
  /** Tells, and settles: `await world.tell(ref).add(2)`. */
  tell<H extends HandlerMap>(ref: RefOf<H>): SendMethods<H>;
  /**
   * Asks, settles, and resolves with the reply; rejects with ERR_TEST_UNANSWERED when the world has settled
   * without one. Time stands still.
   */
  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H>;
  /**
   * The present state of a living actor: the object itself, not a copy. It is unknown where an annotation
   * hides it: `Actor<Protocol, Args>` does, `Actor<Protocol, Args, State>` shows it.
   */
  stateOf<D extends AnyDefinition>(definition: D, ref: ActorRef<NoInfer<D>>): StateOf<D>;
  /** Starts an actor that stands in for one of this definition, and records its messages. */
  probe<D extends AnyDefinition>(definition: D, options?: ProbeOptions): Probe<D>;
  /** The runtime events so far, oldest first; of more than 100,000 the latest. */
  readonly events: readonly RuntimeEvent[];
  /** The events of one kind. */
  eventsOf<K extends RuntimeEvent['kind']>(kind: K): readonly Extract<RuntimeEvent, { readonly kind: K }>[];
}

export interface TestSystemOptions extends Omit<SystemOptions, 'host' | 'executor'> {
  /**
   * Chooses the order of ready actors and feeds `ctx.random`. Default: none, actors run first come, first
   * served.
   */
  readonly seed?: number | undefined;
  /** Clock, timers and chance of the world. Default: a new one. */
  readonly host?: ManualHost | undefined;
}

/** A system in virtual time. */
export function createTestSystem(options: TestSystemOptions = {}): TestSystem {
  return new VirtualSystem(options);
}

export class VirtualSystem implements ThreadWorld {
  readonly system: ActorSystem;
  readonly host: ManualHost;
  readonly events: RuntimeEvent[] = [];
  protected readonly executor: StepExecutor;
  protected readonly threads: VirtualThreads | undefined;
  private readonly probes: { readonly ref: AnyRef; readonly record: ProbeRecord }[] = [];

  /** `choose` returns the place of the next actor among so many ready ones. */
  constructor({ seed, host, threads, ...options }: TestSystemOptions, choose = orderBySeed(seed)) {
    if (seed !== undefined) checkOption('createTestSystem.seed', seed, wholeNumber(0));
    this.host = host ?? new ManualHost({ seed });
    const order = choose && (() => (choose(executor.readyCount) + 0.5) / executor.readyCount);
    const executor: StepExecutor = new StepExecutor(this.host, order, () => unsettledWorlds.begin());
    this.executor = executor;
    this.threads = threads instanceof VirtualThreads ? threads : undefined;
    this.threads?.join({
      pump: this,
      openWorld: (world) => new VirtualSystem({ ...world, host: this.host, seed }, choose),
      choose,
    });
    this.system = createSystem({ ...options, threads, host: this.host, executor: () => executor });
    unsettledWorlds.add(executor);
    this.system.subscribe((event) => {
      if (this.events.length >= EVENTS_MAX) this.events.splice(0, EVENTS_MAX / 2);
      this.events.push(event);
    });
  }

  step(): boolean {
    return this.threads === undefined ? this.runTurn() : this.threads.step();
  }

  get readyCount(): number {
    return this.executor.readyCount;
  }

  runTurn(): boolean {
    return this.executor.step();
  }

  abandon(): void {
    unsettledWorlds.delete(this.executor);
  }

  settle(): Promise<void>;
  settle<T>(promise: PromiseLike<T>): Promise<T>;
  async settle<T>(promise?: PromiseLike<T>): Promise<T | undefined> {
    if (promise !== undefined)
      return this.settledValue(promise, () => new PendingPromiseError(busyActors(this.system)));
    await this.runReady();
    return undefined;
  }

  async advance(ms: number): Promise<void> {
    const { host } = this;
    const until = host.now() + ms;
    await this.settle();
    for (let next = host.nextDue(); next !== undefined && next <= until; next = host.nextDue()) {
      host.moveTo(next);
      await this.settle();
    }
    host.moveTo(until);
    await this.settle();
  }

  tell<H extends HandlerMap>(ref: RefOf<H>): SendMethods<H> {
    checkRefArgument('tell.ref', ref);
    return wrapMethods(ref.tell, () => this.runReady()) as SendMethods<H>;
  }

  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H> {
    const answered = (reply: unknown, message: string): Promise<unknown> =>
      this.answered(ref, message, reply as Promise<unknown>);
    return wrapMethods(this.system.ask(ref, options), answered) as AskMethods<H>;
  }

  stateOf<D extends AnyDefinition>(definition: D, ref: ActorRef<NoInfer<D>>): StateOf<D> {
    checkIsDefinition(definition);
    const cell = checkRefArgument('stateOf.ref', ref);
    if (!isOf(definition, cell.ref) || cell.type.definition['~routees'] !== undefined)
      throw new MisuseError(`stateOf: ${cell.path} is a ${cell.type.name}, not a ${definition.name}`);
    if (cell.isTerminated) throw new MisuseError(`stateOf: ${cell.path} has ended, and its state with it`);
    return cell.state as StateOf<D>;
  }

  probe<D extends AnyDefinition>(definition: D, options: ProbeOptions = {}): Probe<D> {
    checkIsDefinition(definition);
    const { probe, record } = spawnProbe(this.system, definition, options);
    this.probes.push({ ref: probe.ref, record });
    return probe;
  }

  eventsOf<K extends RuntimeEvent['kind']>(kind: K): readonly Extract<RuntimeEvent, { readonly kind: K }>[] {
    return this.events.filter(
      (event): event is Extract<RuntimeEvent, { readonly kind: K }> => event.kind === kind,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    let stopped = false;
    void this.system.shutdown().then(() => {
      stopped = true;
    });
    await this.settle();
    while (!stopped) await this.advance(1_000);
    this.abandon();
  }

  private async runReady(): Promise<void> {
    for (let steps = 0; ; ) {
      while (this.step()) {
        steps += 1;
        if (steps > STEPS_MAX)
          throw new Error(`still not settled after ${STEPS_MAX} turns: something keeps itself busy`);
      }
      // Callbacks of the host come after all microtasks, as on a real event loop.
      await microtasksDone();
      if (!this.hasWork && !this.host.runCallbacks()) return this.settled();
    }
  }

  /** An actor is ready, on this thread or another, or a record is on its way. */
  private get hasWork(): boolean {
    return this.threads?.hasWork ?? this.readyCount > 0;
  }

  private settled(): void {
    this.threads?.looked();
    unsettledWorlds.endIfSettled();
  }

  private async answered(target: AnyRef, message: string, reply: Promise<unknown>): Promise<unknown> {
    return this.settledValue(reply, () => {
      const probes = this.probes.map(({ ref, record }) => ({ path: ref.path, messages: record.unanswered }));
      return unansweredError(this.system, target, message, probes);
    });
  }

  private async settledValue<T>(promise: PromiseLike<T>, pending: () => Error): Promise<T> {
    let isSettled = false;
    const mark = (): void => {
      isSettled = true;
    };
    // A rejection is the caller's, below.
    promise.then(mark, mark);
    await this.runReady();
    if (isSettled) return promise;
    throw pending();
  }
}

/** The same methods, each with a function of its result and its name in place of the result. */
function wrapMethods(methods: object, after: (result: unknown, message: string) => unknown): object {
  return new Proxy(methods, {
    get(target, message) {
      const method: unknown = Reflect.get(target, message);
      if (typeof method !== 'function') return undefined;
      return (payload?: unknown) => after(method.call(target, payload), String(message));
    },
  });
}

function orderBySeed(seed: number | undefined): ((ready: number) => number) | undefined {
  if (seed === undefined) return undefined;
  const order = new SeededRandom(seed ^ 0x5eed);
  return (ready) => order.below(ready);
}

/** A macrotask runs only when all microtasks that can run have run. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
