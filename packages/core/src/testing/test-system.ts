import { type ActorSystem, createSystem } from '../system.js';
import type { SystemOptions } from '../system-options.js';
import { ManualHost } from './manual-host.js';
import { SeededRandom } from './seeded-random.js';
import { StepExecutor } from './step-executor.js';

const STEPS_MAX = 10_000_000;

/** A system in virtual time: the production runtime on a manual host and a stepping executor. */
export interface TestSystem extends AsyncDisposable {
  readonly system: ActorSystem;
  readonly host: ManualHost;
  /** One turn of one ready actor; false when no actor was ready. */
  step(): boolean;
  /** Runs until no actor is ready and no settled promise makes one ready. Time stands still. */
  settle(): Promise<void>;
  /** Settles, moves time by `ms` from timer to timer, and settles after each and at the end. */
  advance(ms: number): Promise<void>;
}

export interface TestSystemOptions extends Omit<SystemOptions, 'host' | 'executor'> {
  /**
   * Chooses the order of ready actors and feeds `ctx.random`. Without one, actors run first come, first
   * served.
   */
  readonly seed?: number | undefined;
  readonly host?: ManualHost | undefined;
}

export function createTestSystem(options: TestSystemOptions = {}): TestSystem {
  const { seed, host: given, ...rest } = options;
  const host = given ?? new ManualHost({ seed });
  const order = seed === undefined ? undefined : new SeededRandom(seed ^ 0x5eed);
  const executor = new StepExecutor(host, order && (() => order.next()));
  const system = createSystem({ ...rest, host, executor: () => executor });

  const settle = async (): Promise<void> => {
    for (let steps = 0; ; ) {
      while (executor.step()) {
        steps += 1;
        if (steps > STEPS_MAX)
          throw new Error(`still not settled after ${STEPS_MAX} turns: something keeps itself busy`);
      }
      // Callbacks of the host come after all microtasks, as on a real event loop.
      await microtasksDone();
      if (executor.readyCount === 0 && !host.runCallbacks()) return;
    }
  };
  const advance = async (ms: number): Promise<void> => {
    const until = host.now() + ms;
    await settle();
    for (let next = host.nextDue(); next !== undefined && next <= until; next = host.nextDue()) {
      host.moveTo(next);
      await settle();
    }
    host.moveTo(until);
    await settle();
  };
  const dispose = async (): Promise<void> => {
    let stopped = false;
    void system.shutdown().then(() => {
      stopped = true;
    });
    await settle();
    while (!stopped) await advance(1_000);
  };
  return { system, host, step: () => executor.step(), settle, advance, [Symbol.asyncDispose]: dispose };
}

/** A macrotask runs only when all microtasks that can run have run. */
function microtasksDone(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
