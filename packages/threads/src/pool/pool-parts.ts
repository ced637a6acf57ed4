import type { Host, HostTimer } from '@troupe/core';
import { DeferredActions } from './deferred-actions.js';
import { EventListeners } from './event-listeners.js';
import { PoolMachine } from './machine/pool-machine.js';
import type { PoolEvent } from './pool-event.js';
import type { PoolSettings } from './pool-options.js';
import type { ExecutorThreads, PoolPorts } from './pool-ports.js';
import type { PoolTask } from './task/pool-task.js';
import type { TaskCall } from './task/task-modules.js';
import { TaskEnds } from './task-ends.js';
import { ThreadReports } from './thread-reports.js';

/** Submits a task of a task. */
export type SubmitCall = (call: TaskCall, args: readonly unknown[], parent: PoolTask | undefined) => unknown;

/** The parts of one pool, wired, and what follows every change of its state. */
export class PoolParts {
  readonly name: string;
  readonly settings: PoolSettings;
  readonly host: Host;
  readonly events: EventListeners;
  readonly deferred = new DeferredActions();
  readonly ends = new TaskEnds(this);
  readonly threads: ExecutorThreads;
  readonly machine: PoolMachine;
  private isFlushing = false;
  private pruneTimer: HostTimer | undefined;

  constructor(
    settings: PoolSettings,
    ports: PoolPorts,
    onEvent: ((event: PoolEvent) => void) | undefined,
    onTerminated: () => void,
    submit: SubmitCall,
  ) {
    const { name } = settings;
    this.name = name;
    this.settings = settings;
    this.host = ports.host;
    this.events = new EventListeners(name, ports.host, onEvent);
    this.threads = ports.openThreads(settings, new ThreadReports(this, submit));
    this.machine = new PoolMachine(settings, this.threads, {
      threadStartFailed: ({ name: thread }, error) =>
        this.report({ kind: 'thread-start-failed', pool: name, thread, error }),
      taskLost: (task, _worker, error) => this.ends.fail(task, error),
      terminated: onTerminated,
    });
  }

  /** Listeners are called once the state is consistent. */
  report(event: PoolEvent): void {
    if (this.events.isWanted(event)) this.deferred.add(() => this.events.publish(event));
  }

  /** The state has changed, and is consistent. */
  settle(): void {
    this.deferred.run();
  }

  /** As `settle`, when threads have become free or have got tasks. */
  settleThreads(): void {
    this.settle();
    this.armPruning();
    this.requestFlush();
  }

  /** Tasks of one turn go to the threads together. */
  requestFlush(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    this.host.soon(this.flush);
  }

  private readonly flush = (): void => {
    this.isFlushing = false;
    this.machine.stageAhead();
    this.threads.flush();
  };

  private armPruning(): void {
    const { pruneAt } = this.machine;
    if (pruneAt === undefined || this.pruneTimer !== undefined) return;
    this.pruneTimer = this.host.setTimer(Math.max(0, pruneAt - this.host.now()), () => {
      this.pruneTimer = undefined;
      this.machine.prune(this.host.now());
      this.armPruning();
      this.settle();
    });
    this.pruneTimer.hold(false);
  }
}
