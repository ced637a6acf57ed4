import type { ActorCell } from './actor/actor-cell.js';
import type { OnNameChange } from './actor/name-watches.js';
import type { SuspensionToken } from './define/actor-context.js';
import type { AnyDefinition, HandlerMap, SpawnParameters } from './define/actor-definition.js';
import { defineActor } from './define/define-actor.js';
import type { SpawnOptions } from './define/spawn-options.js';
import { boundedError, messageOf } from './errors/bounded-error.js';
import { toError } from './errors/thrown-value.js';
import type { EventListener } from './event-stream.js';
import type { Executor } from './executor/executor.js';
import { TimeSlice } from './executor/time-slice.js';
import { WorkerExecutor } from './executor/worker-executor.js';
import type { Host } from './host.js';
import type { ActorView, InspectOptions } from './inspect/actor-view.js';
import { describeActivity } from './inspect/describe-activity.js';
import { failedSystemText } from './inspect/failed-system-text.js';
import { inspectActor } from './inspect/inspect-actor.js';
import { liveTreeText } from './inspect/live-tree-text.js';
import { lastMessagesOf } from './inspect/message-history.js';
import { INSPECT } from './inspect-symbol.js';
import { InstalledMiddleware, wrappedHost } from './middleware/install-middleware.js';
import { nodeHost } from './node-host.js';
import { callback, checkOption, checkOptionNames, number, oneOf } from './option-check.js';
import type { ActorRef, AnyRef, AskMethods, AskOptions, RefOf } from './ref/actor-ref.js';
import type { CellRef } from './ref/cell-ref.js';
import { checkRefArgument } from './ref/check-ref-argument.js';
import type { PoolOptions } from './routing/pool.js';
import type { PoolRef } from './routing/router-ref.js';
import { Runtime } from './runtime.js';
import { EVENT_KINDS, type RuntimeEvent, type StopReason } from './runtime-event.js';
import {
  Shutdown,
  type ShutdownOptions,
  type ShutdownPhase,
  type ShutdownTask,
  type Unfinished,
} from './shutdown.js';
import type { FailureReport } from './supervision/failure-report.js';
import { checkTimeLimit, type SystemOptions, type SystemSettings, settingsOf } from './system-options.js';
import type { RunningTree } from './tree/start-tree.js';
import type { SupervisorSpec } from './tree/tree-spec.js';

/** How a system ended. */
export interface SystemReport {
  /** The name of the system. */
  readonly system: string;
  /** Undefined when it was shut down; else the failure that reached the guardian. */
  readonly cause: Error | undefined;
  /** The sends before that failure, oldest first; empty without one, or when the recorder is off. */
  readonly messageHistory: readonly string[];
  /** Messages handled in all. */
  readonly handled: number;
  /** Dead letters in all. */
  readonly deadLetters: number;
  /** Tasks and actors that the shutdown did not wait for any longer. */
  readonly unfinished: readonly Unfinished[];
}

export interface StopOptions {
  /**
   * The actor is killed after this time. Default: `stopWithinMs` of its definition for a stop, 30 s for a
   * drain.
   */
  readonly withinMs?: number | undefined;
}

export interface InspectAllOptions extends InspectOptions {
  /** The actor at the top. Default: the guardian. */
  readonly under?: AnyRef | undefined;
  /** How long it waits for other threads. Default 1,000. */
  readonly withinMs?: number | undefined;
}

const INSPECT_WITHIN_MS = 1_000;

/** A tree of actors on this thread, with its scheduler. */
export interface ActorSystem extends AsyncDisposable {
  /** The option `name`. */
  readonly name: string;
  /**
   * Resolves when the system has stopped, for any cause. Never rejects. A failure that stopped the system,
   * and at which no code looks by this or by `shutdown`, is reported on stderr, and the exit code of the
   * process becomes 70.
   */
  readonly whenStopped: Promise<SystemReport>;
  /** Starts an actor under the guardian. */
  spawn<D extends AnyDefinition>(definition: D, ...options: SpawnParameters<D, SpawnOptions>): ActorRef<D>;
  /** Starts a pool of actors of one definition, supervised by an actor of its own, behind one ref. */
  spawnPool<D extends AnyDefinition>(definition: D, options: PoolOptions<D>): PoolRef<D>;
  /** Starts a supervision tree; siblings in order, each supervisor before its children. */
  start<D extends AnyDefinition>(tree: SupervisorSpec<D>): RunningTree<D>;
  /** Like `ref.ask`, with a deadline of its own, or a signal. */
  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H>;
  /** The living actor of that name, if there is one. */
  lookup<D extends AnyDefinition>(definition: D, path: string): ActorRef<D> | undefined;
  /** Finishes the current message; the rest become dead letters. Resolves when the actor has ended. */
  stop(ref: AnyRef, options?: StopOptions): Promise<StopReason>;
  /** Finishes the backlog first, within 30 s unless `withinMs` is given. */
  drain(ref: AnyRef, options?: StopOptions): Promise<StopReason>;
  /** Ends it now: nothing is waited for. */
  kill(ref: AnyRef): Promise<StopReason>;
  /** Handles no messages of that actor until the token is resumed. */
  suspend(ref: AnyRef, reason?: string): SuspensionToken;
  /** Ends every suspension that waits for this event; returns how many. */
  event(key: string): number;
  /** Calls back for every event of that kind, until it is disposed of: `using letters = system.on(…)`. */
  on<Kind extends RuntimeEvent['kind']>(
    kind: Kind,
    listener: (event: Extract<RuntimeEvent, { readonly kind: Kind }>) => void,
  ): Disposable;
  /** Calls back for every runtime event; returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void;
  /**
   * Calls back now and whenever an actor of that definition takes or leaves the name; returns the function
   * that ends it.
   */
  watchName<D extends AnyDefinition>(
    definition: D,
    path: string,
    onChange: (ref: ActorRef<D> | undefined) => void,
  ): () => void;
  /** Counts of actors, messages and timers. */
  stats(): SystemStats;
  /** The live tree, or the part below an actor. */
  inspect(options?: InspectOptions & { readonly under?: AnyRef }): ActorView;
  /** The same as text, one line per actor. */
  tree(options?: InspectOptions & { readonly under?: AnyRef }): string;
  /**
   * As `inspect`, with the actors of other threads in the place of their proxies. A thread that does not
   * answer in time shows its proxies.
   */
  inspectAll(options?: InspectAllOptions): Promise<ActorView>;
  /** The same as text. */
  treeAll(options?: InspectAllOptions): Promise<string>;
  /** The tail of the flight recorder, oldest first: `sender → receiver.message`. Empty where it is off. */
  lastMessages(max: number): readonly string[];
  /** Runs in that phase of a shutdown, within its time; returns the function that takes it back. */
  onShutdown(phase: ShutdownPhase, name: string, run: ShutdownTask): () => void;
  /** Ends everything, phase by phase, within a time. The report names unfinished tasks and actors. */
  shutdown(options?: ShutdownOptions): Promise<SystemReport>;
}

/** At every moment between two handlers: messages accepted = handled + queued + deadLetters. */
export interface SystemStats {
  /** Living actors, the guardian included. */
  readonly actors: number;
  /** Actors that have something to do. */
  readonly ready: number;
  /** Messages in mailboxes and stashes. */
  readonly queued: number;
  /** Messages whose handler was run, well or not. */
  readonly handled: number;
  /** Dead letters so far. */
  readonly deadLetters: number;
  /** Armed timers. */
  readonly timers: number;
  /** Lines that the host's log threw on. */
  readonly logsLost: number;
}

/** The shutdown limits the time of its stop. */
const Guardian = defineActor('guardian', { handlers: {}, stopWithinMs: 2 ** 31 - 1 });
const UNFINISHED_MAX = 100;
const DRAIN_WITHIN_MS_DEFAULT = 30_000;

/** Starts a system of actors on this thread. */
export function createSystem(options: SystemOptions = {}): ActorSystem {
  const settings = settingsOf(options);
  return new System(options.host ?? nodeHost, settings, options);
}

class System implements ActorSystem {
  readonly name: string;
  private readonly stopped: Promise<SystemReport>;
  private isSeen = false;
  /** Takes the report of an unseen failure back. */
  private onSeen: (() => void) | undefined = undefined;
  private readonly runtime: Runtime;
  private readonly ending: Shutdown;
  private readonly installed: InstalledMiddleware;
  private cause: Error | undefined = undefined;
  private messageHistory: readonly string[] = [];

  constructor(ownHost: Host, settings: SystemSettings, options: SystemOptions) {
    this.name = settings.name;
    const host = wrappedHost(ownHost, settings.middleware);
    const executor =
      (options.executor?.(host) as Executor<ActorCell> | undefined) ??
      new WorkerExecutor<ActorCell>(host, new TimeSlice(settings.slice));
    this.runtime = new Runtime(host, settings, executor, Guardian, (report) => this.failedAtRoot(report));
    let resolveStopped: (report: SystemReport) => void;
    this.stopped = new Promise((resolve) => {
      resolveStopped = resolve;
    });
    const actors = { stop: () => this.stopActors(), kill: () => this.killActors() };
    this.installed = new InstalledMiddleware((thrown) => {
      const error = boundedError(toError(thrown));
      this.runtime.log.write('error', `the end of a middleware threw: ${messageOf(error)}`, { error });
    });
    this.ending = new Shutdown(this.name, host, actors, () => {
      this.installed.dispose();
      const report = this.report();
      if (report.cause !== undefined && !this.isSeen)
        this.onSeen = ownHost.systemFailed?.(failedSystemText(report));
      resolveStopped(report);
    });
    const { remote } = this.runtime;
    if (remote !== undefined) this.ending.add('resources', 'threads', () => remote.close());
    this.runtime.guardian.ensureCold().onStopped.push(() => {
      this.close();
      this.ending.actorsStopped();
    });
    try {
      this.installed.install(this, settings.middleware);
    } catch (error) {
      this.beginShutdown({});
      throw error;
    }
  }

  spawn<D extends AnyDefinition>(definition: D, ...[options]: SpawnParameters<D, SpawnOptions>): ActorRef<D> {
    const cell = this.runtime.spawner.spawn(this.runtime.guardian, definition, options);
    return cell.ref as unknown as ActorRef<D>;
  }

  spawnPool<D extends AnyDefinition>(definition: D, options: PoolOptions<D>): PoolRef<D> {
    return this.runtime.subtrees.spawnPool(this.runtime.guardian, definition, options);
  }

  start<D extends AnyDefinition>(tree: SupervisorSpec<D>): RunningTree<D> {
    return this.runtime.subtrees.startTree(this.runtime.guardian, tree);
  }

  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H> {
    checkRefArgument('ask.ref', ref);
    return (ref as unknown as CellRef).askAs(undefined, options) as AskMethods<H>;
  }

  lookup<D extends AnyDefinition>(definition: D, path: string): ActorRef<D> | undefined {
    return this.runtime.registry.lookup(definition, path) as unknown as ActorRef<D> | undefined;
  }

  stop(ref: AnyRef, options: StopOptions = {}): Promise<StopReason> {
    checkTimeLimit('stop', options);
    return this.end(checkRefArgument('stop.ref', ref), (cell) => cell.requestStop(), options.withinMs);
  }

  drain(ref: AnyRef, options: StopOptions = {}): Promise<StopReason> {
    checkTimeLimit('drain', options);
    const { withinMs = DRAIN_WITHIN_MS_DEFAULT } = options;
    return this.end(checkRefArgument('drain.ref', ref), (cell) => cell.requestDrain(), withinMs, false);
  }

  kill(ref: AnyRef): Promise<StopReason> {
    return this.end(checkRefArgument('kill.ref', ref), (cell) => cell.requestKill(), undefined);
  }

  suspend(ref: AnyRef, reason?: string): SuspensionToken {
    const cell = checkRefArgument('suspend.ref', ref);
    if (cell.isTerminated) return { active: false, resume: () => undefined };
    const why = reason === undefined ? 'operator' : { user: reason };
    const suspension = this.runtime.suspensions.suspend(cell, why, { on: 'resume' }, true);
    const endElsewhere = cell.cold?.route?.suspendActor(reason ?? 'operator');
    return endElsewhere === undefined ? suspension : new SuspensionElsewhere(suspension, endElsewhere);
  }

  event(key: string): number {
    return this.runtime.suspensions.event(key);
  }

  on<Kind extends RuntimeEvent['kind']>(
    kind: Kind,
    listener: (event: Extract<RuntimeEvent, { readonly kind: Kind }>) => void,
  ): Disposable {
    checkOption('on.kind', kind, oneOf(EVENT_KINDS));
    checkOption('on.listener', listener, callback);
    const end = this.runtime.events.subscribe((event) => {
      if (event.kind === kind) listener(event as Extract<RuntimeEvent, { readonly kind: Kind }>);
    });
    return { [Symbol.dispose]: end };
  }

  subscribe(listener: EventListener): () => void {
    checkOption('subscribe.listener', listener, callback);
    return this.runtime.events.subscribe(listener);
  }

  stats(): SystemStats {
    const { ready, deadLetters, wheel, stashes, remote } = this.runtime;
    return {
      actors: ready.slots.live - (remote?.proxies ?? 0),
      ready: ready.depth,
      queued: ready.queued + ready.inlineMessages + stashes.held + (remote?.keptBack ?? 0),
      handled: ready.handledTotal - (remote?.forwarded ?? 0),
      deadLetters: deadLetters.total + (remote?.deadLetters ?? 0),
      timers: wheel.live,
      logsLost: this.runtime.log.logsLost,
    };
  }

  watchName<D extends AnyDefinition>(
    definition: D,
    path: string,
    onChange: (ref: ActorRef<D> | undefined) => void,
  ): () => void {
    return this.runtime.nameWatches.watchFromOutside(definition, path, onChange as OnNameChange);
  }

  inspect(options: InspectOptions & { readonly under?: AnyRef } = {}): ActorView {
    checkOptionNames('inspect', options, ['levels', 'childrenMax', 'under']);
    const { under, ...rest } = options;
    return inspectActor(
      this.runtime,
      under === undefined ? this.runtime.guardian : checkRefArgument('inspect.under', under),
      rest,
    );
  }

  async inspectAll(options: InspectAllOptions = {}): Promise<ActorView> {
    checkOptionNames('inspectAll', options, ['levels', 'childrenMax', 'under', 'withinMs']);
    const { withinMs = INSPECT_WITHIN_MS, under, ...rest } = options;
    checkOption('inspectAll.withinMs', withinMs, number(1));
    const view = this.inspect({ ...rest, ...(under === undefined ? {} : { under }) });
    const { remote } = this.runtime;
    return remote === undefined ? view : remote.inspection.complete(view, rest, withinMs);
  }

  async treeAll(options: InspectAllOptions = {}): Promise<string> {
    return liveTreeText(await this.inspectAll(options));
  }

  tree(options: InspectOptions & { readonly under?: AnyRef } = {}): string {
    return liveTreeText(this.inspect(options));
  }

  lastMessages(max: number): readonly string[] {
    checkOption('lastMessages.max', max, number(0));
    return lastMessagesOf(this.runtime.recorder, this.runtime.ready, max);
  }

  onShutdown(phase: ShutdownPhase, name: string, run: ShutdownTask): () => void {
    return this.ending.add(phase, name, run);
  }

  shutdown(options: ShutdownOptions = {}): Promise<SystemReport> {
    checkTimeLimit('shutdown', options);
    this.beginShutdown(options);
    return this.whenStopped;
  }

  get whenStopped(): Promise<SystemReport> {
    this.isSeen = true;
    this.onSeen?.();
    this.onSeen = undefined;
    return this.stopped;
  }

  toString(): string {
    return `system(${this.name})`;
  }

  toJSON(): string {
    return this.toString();
  }

  [INSPECT](): string {
    return this.toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Not `shutdown`: disposing is no look at the report.
    this.beginShutdown({});
    await this.stopped;
  }

  private beginShutdown(options: ShutdownOptions): void {
    const isFirst = !this.ending.hasBegun && !this.runtime.guardian.isTerminated;
    if (isFirst) this.ending.begin(options);
  }

  private failedAtRoot(report: FailureReport): void {
    const error = boundedError(report.error);
    const { origin, messagesThere = [] } = report;
    const messageHistory = [...this.runtime.log.messageHistoryOf(origin.slot), ...messagesThere];
    this.cause = error;
    this.messageHistory = messageHistory;
    this.runtime.log.write('error', `system ${this.name} stops: ${messageOf(error)}`, {
      error,
      messageHistory,
    });
    this.beginShutdown({});
  }

  private end(
    cell: ActorCell,
    ask: (cell: ActorCell) => void,
    withinMs: number | undefined,
    explicit = true,
  ): Promise<StopReason> {
    if (cell.isTerminated) return Promise.resolve(cell.stopReason);
    return new Promise((resolve) => {
      cell.ensureCold().onStopped.push(resolve);
      if (this.runtime.childLists.parentOf(cell.slot) === this.runtime.guardian) cell.markReleased();
      if (withinMs !== undefined) this.runtime.timers.killAfter(cell, withinMs, explicit);
      ask(cell);
    });
  }

  private stopActors(): void {
    const { guardian, events } = this.runtime;
    if (events.hasListeners) events.publish({ kind: 'system-stopping', cause: this.cause });
    guardian.requestStop();
  }

  /**
   * Returns the actors that have not ended, last started first, as they stop: the one that delays the others
   * leads.
   */
  private killActors(): readonly Unfinished[] {
    const { guardian, childLists, host } = this.runtime;
    const left: Unfinished[] = [];
    const open = childLists.childrenOf(guardian);
    while (left.length < UNFINISHED_MAX) {
      const cell = open.pop();
      if (cell === undefined) break;
      left.push({ phase: 'actors', name: cell.path, why: describeActivity(cell, host.now()) });
      open.push(...childLists.childrenOf(cell).slice(-UNFINISHED_MAX));
    }
    guardian.requestKill();
    return left;
  }

  private close(): void {
    this.runtime.executor.stop();
    this.runtime.wheel.close();
  }

  private report(): SystemReport {
    const { ready, deadLetters, remote } = this.runtime;
    return {
      system: this.name,
      cause: this.cause,
      messageHistory: this.messageHistory,
      handled: ready.handledTotal - (remote?.forwarded ?? 0),
      deadLetters: deadLetters.total + (remote?.deadLetters ?? 0),
      unfinished: this.ending.unfinished,
    };
  }
}

/** A suspension of an actor on another thread, and of its proxy. */
class SuspensionElsewhere implements SuspensionToken {
  private readonly here: SuspensionToken;
  private readonly endElsewhere: () => void;

  constructor(here: SuspensionToken, endElsewhere: () => void) {
    this.here = here;
    this.endElsewhere = endElsewhere;
  }

  get active(): boolean {
    return this.here.active;
  }

  resume(): void {
    if (!this.here.active) return;
    this.here.resume();
    this.endElsewhere();
  }
}
