// Hot path: `run` is called once per attempt.

import type { Attempt } from '../attempt/attempt.js';
import { noHandler } from '../attempt/attempt-end.js';
import { LazyAttemptContext } from '../attempt/lazy-attempt-context.js';
import { type AttemptOwner, runAttempt } from '../attempt/run-attempt.js';
import { RunnerInstances } from '../runners/runner-instances.js';
import { type PlannedRunner, planRunners, type RunnerFunctions } from '../runners/runner-plan.js';
import type { RunnerPools } from '../runners/runner-pools.js';
import type { RunnerInstance, RunnerPort, RunnerReport } from '../runners/runner-port.js';
import type { HandledJob } from './handler.js';
import type { HandlerRunner } from './handler-runner.js';

const THE_PLACE = 0;

/** Handlers and warm runners in the event loop of the worker. */
export class InlineHandlers implements HandlerRunner, RunnerPort {
  execs: readonly string[] = [];
  private readonly handlers = new Map<string, HandledJob>();
  private readonly owner: AttemptOwner;
  private readonly pools: RunnerPools;
  private readonly instances: RunnerInstances;
  private planned = new Map<string, PlannedRunner>();

  constructor(owner: AttemptOwner, pools: RunnerPools, report: (report: RunnerReport) => void) {
    this.owner = owner;
    this.pools = pools;
    this.instances = new RunnerInstances((runner) => this.functionsOf(runner), report);
  }

  /** Attempts under way keep their handler. A runner is recycled if one of its handlers is another value. */
  use(handlers: readonly HandledJob[]): void {
    this.handlers.clear();
    for (const handled of handlers) this.handlers.set(handled.job.exec, handled);
    this.execs = Array.from(this.handlers.values(), ({ job }) => `${job.policy.group}/${job.exec}`);
    const planned = planRunners([...this.handlers.values()]);
    const replaced = new Set<string>();
    for (const one of planned)
      if (!isSame(one, this.planned.get(one.plan.runner))) replaced.add(one.plan.runner);
    this.planned = new Map(planned.map((one) => [one.plan.runner, one]));
    this.pools.use(
      this,
      planned.map(({ plan }) => plan),
      replaced,
    );
  }

  hasRoom(attempt: Attempt): boolean {
    return this.pools.isReady(attempt);
  }

  run(attempt: Attempt, tag: string): boolean {
    const handled = this.handlers.get(attempt.exec);
    if (handled === undefined) {
      this.owner.finish(attempt, noHandler(attempt));
      return false;
    }
    const context = new LazyAttemptContext(tag, attempt, handled.job);
    const instance = this.pools.take(attempt);
    if (instance !== undefined) context.useInstance(this.instances.valueOf(instance.id));
    return runAttempt(attempt, handled, context, this.owner);
  }

  aborted(): void {
    // The handler has the signal of the attempt itself.
  }

  stop(): void {
    // A handler under way cannot be ended.
  }

  placeToLoad(): number {
    return THE_PLACE;
  }

  isFree(): boolean {
    return true;
  }

  load(instance: RunnerInstance): void {
    this.instances.load(instance);
  }

  check(instance: RunnerInstance): void {
    this.instances.check(instance);
  }

  unload(instance: RunnerInstance): void {
    this.instances.unload(instance);
  }

  private functionsOf(runner: string): RunnerFunctions {
    return (this.planned.get(runner) as PlannedRunner).functions; // only planned runners are loaded
  }
}

function isSame({ handlers }: PlannedRunner, before: PlannedRunner | undefined): boolean {
  if (before === undefined || before.handlers.length !== handlers.length) return false;
  return handlers.every((handled, index) => handled === before.handlers[index]);
}
