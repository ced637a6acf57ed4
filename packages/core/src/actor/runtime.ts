import type { Logger } from '../define/actor-context.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { checkSpawnOptions, type SpawnOptions } from '../define/spawn-options.js';
import { boundedError, MisuseError, messageOf, SystemStoppedError, toError } from '../errors.js';
import { EventStream } from '../events.js';
import type { Executor } from '../executor/executor.js';
import type { Host, LogLevel } from '../host.js';
import { FlightRecorder } from '../inspect/flight-recorder.js';
import { messageHistoryOf } from '../inspect/message-history.js';
import { SlowActorWarnings } from '../inspect/slow-actor-warnings.js';
import { MessageInvoker } from '../invoker/message-invoker.js';
import { ActorLifecycle } from '../lifecycle/actor-lifecycle.js';
import type { FailureReport } from '../lifecycle/runtime-signal.js';
import { StopSequence } from '../lifecycle/stop-sequence.js';
import { Termination } from '../lifecycle/termination.js';
import { BackPressure } from '../mailbox/back-pressure.js';
import { DeadLetters } from '../mailbox/dead-letters.js';
import { Delivery } from '../mailbox/delivery.js';
import type { Handler } from '../mailbox/mailbox-type.js';
import { Stashes } from '../mailbox/stashes.js';
import { Suspensions } from '../mailbox/suspensions.js';
import { UnhandledInPhase } from '../mailbox/unhandled-in-phase.js';
import { checkDistinct } from '../middleware/check-middleware.js';
import { MessageHooks } from '../middleware/message-hooks.js';
import type { Middleware } from '../middleware/middleware.js';
import { Pipeline } from '../middleware/pipeline.js';
import { SendHooks } from '../middleware/send-hooks.js';
import { TurnHooks } from '../middleware/turn-hooks.js';
import { Asks } from '../ref/asks.js';
import type { RefBase } from '../ref/ref-class.js';
import { WaitingSends } from '../ref/waiting-sends.js';
import { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import { ChildLists } from '../supervision/child-lists.js';
import { DeathWatch } from '../supervision/death-watch.js';
import { RestartSequence } from '../supervision/restart-sequence.js';
import { Supervisor } from '../supervision/supervisor.js';
import type { SystemSettings } from '../system-options.js';
import { Timers } from '../timers/actor-timers.js';
import { TimerWheel } from '../timers/timer-wheel.js';
import { ActorCell } from './actor-cell.js';
import { ActorType } from './actor-type.js';
import { NameRegistry } from './name-registry.js';

const NO_MIDDLEWARE: readonly Middleware[] = [];

/** The parts of one system, wired together. Actors reach it through their type. */
export class Runtime {
  readonly host: Host;
  readonly options: SystemSettings;
  readonly events: EventStream;
  readonly executor: Executor<ActorCell>;
  readonly ready: ReadyQueueCoordinator<ActorCell>;
  readonly delivery: Delivery<ActorCell>;
  readonly invoker: MessageInvoker<ActorCell>;
  readonly wheel: TimerWheel;
  readonly recorder: FlightRecorder | undefined;
  readonly childLists: ChildLists;
  readonly registry: NameRegistry;
  readonly lifecycle: ActorLifecycle;
  readonly restarts = new RestartSequence(this);
  readonly stops = new StopSequence(this);
  readonly termination = new Termination(this);
  readonly supervisor: Supervisor;
  readonly deathWatch = new DeathWatch();
  readonly suspensions: Suspensions;
  readonly stashes: Stashes;
  readonly timers: Timers;
  readonly asks: Asks;
  readonly sends = new WaitingSends(this);
  readonly sendHooks = new SendHooks(this);
  readonly turnHooks = new TurnHooks(this);
  readonly messageHooks: MessageHooks;
  readonly unhandledInPhase = new UnhandledInPhase(this);
  readonly deadLetters: DeadLetters;
  readonly guardian: ActorCell;
  /** Set by the system: what happens when a failure reaches the guardian. */
  onGuardianFailed: (report: FailureReport) => void = () => undefined;
  /** Lines that the host's log threw on. */
  logsLost = 0;
  /**
   * Weak: a spawn with middleware of its own makes a list of its own, and a definition may be made for one actor; each ends
   * with the last actor that has it.
   */
  private readonly types = new WeakMap<readonly Middleware[], WeakMap<AnyDefinition, ActorType>>();
  private lastType: ActorType | undefined = undefined;

  constructor(host: Host, options: SystemSettings, executor: Executor<ActorCell>, guardian: AnyDefinition) {
    this.host = host;
    this.options = options;
    this.executor = executor;
    this.messageHooks = new MessageHooks(this);
    this.events = new EventStream((error) =>
      this.log('error', `an event listener threw: ${messageOf(toError(error))}`, {}),
    );
    const backPressure = new BackPressure<ActorCell>();
    this.recorder = options.recorder ? new FlightRecorder() : undefined;
    this.ready = new ReadyQueueCoordinator<ActorCell>(
      executor,
      backPressure,
      options.queuedMax,
      this.recorder,
    );
    backPressure.attach(this.ready);
    this.deadLetters = new DeadLetters(this);
    this.delivery = new Delivery<ActorCell>(this.ready, this.deadLetters, this.sendHooks, this.recorder);
    this.childLists = new ChildLists((slot) => this.ready.slots.mailboxes[slot]);
    this.wheel = new TimerWheel(host, () => this.wheel.advance(host.now()));
    this.timers = new Timers(this);
    this.registry = new NameRegistry(this);
    this.suspensions = new Suspensions(this);
    this.stashes = new Stashes(this);
    this.supervisor = new Supervisor(this);
    this.lifecycle = new ActorLifecycle(this);
    this.asks = new Asks(this, options.askWithinMs);
    this.invoker = new MessageInvoker<ActorCell>(this.ready, this.lifecycle);
    const watch = options.warn === undefined ? undefined : new SlowActorWarnings(this, options.warn);
    executor.attach(this.ready, this.invoker, () => this.wheel.holdProcess(), watch);
    const slot = this.ready.slots.reserve();
    this.guardian = new ActorCell(this.typeOf(guardian, NO_MIDDLEWARE), slot, undefined, undefined);
    this.ready.slots.put(slot, this.guardian);
  }

  spawn(
    parent: ActorCell,
    definition: AnyDefinition,
    args: unknown,
    options: SpawnOptions | undefined,
    ref?: RefBase,
  ): ActorCell {
    checkIsDefinition(definition);
    if (parent.isClosed) {
      throw new SystemStoppedError(this.options.name, `spawning ${definition.name} under ${parent.path}`);
    }
    if (options !== undefined) checkSpawnOptions(options);
    if (options?.name !== undefined) this.registry.checkFree(parent, options.name);
    const middleware = this.middlewareFor(parent, options);
    const type = this.typeOf(definition, middleware);
    const slot = this.ready.slots.reserve();
    const cell = new ActorCell(type, slot, args, ref);
    // The address of a place in a tree outlives whoever held it: the next one there gets the same ref.
    if (ref !== undefined) ref.cell = cell;
    this.ready.slots.put(slot, cell);
    this.childLists.add(parent, slot);
    if (options !== undefined) this.applyOptions(cell, options);
    if (middleware !== this.options.middleware) cell.ensureCold().middleware = middleware;
    this.restarts.construct(cell);
    if (type.spec.started !== undefined) cell.signal({ kind: 'start' });
    if (this.events.hasListeners) this.events.publish({ kind: 'spawned', path: cell.path, actor: type.name });
    return cell;
  }

  /** A message that has no handler in the present phase. */
  placeholderHandler(name: string): Handler {
    return this.unhandledInPhase.handlerFor(name);
  }

  /** A restart begins in the first phase again. */
  firstPhaseOf(type: ActorType): ActorType {
    const first = Object.keys(type.spec.phases ?? {})[0];
    return first === undefined ? type : (type.inPhase(first) as ActorType);
  }

  guardianFailed(report: FailureReport): void {
    this.onGuardianFailed(report);
  }

  /** The line's fields are the event. the message history is onClockRead up only for those who read it: that takes longer than a restart. */
  logFailure(
    cell: ActorCell,
    message: string,
    failure: Error,
    directive: string,
    attempt: number,
    attemptsMax: number,
  ): void {
    const { path, slot } = cell;
    const count = attemptsMax > 0 ? `, attempt ${attempt} of ${attemptsMax}` : '';
    const messageHistory = lazy(() => messageHistoryOf(this, slot));
    const { hasListeners } = this.events;
    const event = {
      kind: 'failed' as const,
      path,
      message,
      error: boundedError(failure, hasListeners ? {} : { stack: 'unread' }),
      directive,
      attempt,
      attemptsMax,
      get messageHistory() {
        return messageHistory();
      },
    };
    this.log('error', `${path}.${message} failed: ${messageOf(failure)} → ${directive}${count}`, event);
    if (hasListeners) this.events.publish(event);
  }

  /** `rejection`: the error of a handler whose result nobody takes any more. */
  reportStaleContext(cell: ActorCell, what: string, rejection?: { readonly thrown: unknown }): void {
    const path = cell.path;
    const text = `${path}: ${what} was refused: the context is from before a restart or stop`;
    if (rejection === undefined) this.log('warn', text, { path, what });
    else this.logLateError(text, { path, what }, rejection.thrown);
    if (this.events.hasListeners) this.events.publish({ kind: 'stale-context', path, what });
  }

  /** An error that comes too late to be a failure is at least said. */
  logLateError(text: string, fields: Readonly<Record<string, unknown>>, thrown: unknown): void {
    const error = boundedError(toError(thrown));
    this.log('warn', `${text}; it had failed: ${messageOf(error)}`, { ...fields, error });
  }

  loggerFor(cell: ActorCell): Logger {
    const line = (level: LogLevel) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
      const path = cell.path;
      this.log(level, `${path}: ${message}`, { path, ...fields });
    };
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }

  /** A log that throws must not take the actor down whose business it was to be told. */
  log(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>): void {
    try {
      this.host.log({ level, message, fields });
    } catch {
      this.logsLost += 1;
    }
  }

  private applyOptions(cell: ActorCell, options: SpawnOptions): void {
    if (options.name !== undefined) this.registry.add(cell, options.name);
    if (options.restart !== undefined) cell.ensureCold().restartType = options.restart;
    if (options.supervise !== undefined) cell.ensureCold().policy = options.supervise;
    if (options.significant !== undefined) cell.ensureCold().significant = options.significant;
  }

  /** A subtree's middleware is handed down from parent to child. */
  private middlewareFor(parent: ActorCell, options: SpawnOptions | undefined): readonly Middleware[] {
    const inherited = parent.cold?.middleware ?? this.options.middleware;
    return options?.middleware === undefined ? inherited : [...inherited, ...options.middleware];
  }

  private typeOf(definition: AnyDefinition, middleware: readonly Middleware[]): ActorType {
    const last = this.lastType;
    if (last !== undefined && last.definition === definition && middleware === this.options.middleware)
      return last;
    let byDefinition = this.types.get(middleware);
    if (byDefinition === undefined) {
      byDefinition = new WeakMap();
      this.types.set(middleware, byDefinition);
    }
    let type = byDefinition.get(definition);
    if (type === undefined) {
      const all = [...middleware, ...(definition['~spec'].middleware ?? [])];
      checkDistinct(all);
      type = new ActorType(this, definition, Pipeline.of(all));
      byDefinition.set(definition, type);
    }
    if (middleware === this.options.middleware) this.lastType = type;
    return type;
  }
}

export function checkIsDefinition(value: unknown): asserts value is AnyDefinition {
  const known = typeof value === 'object' && value !== null && '~spec' in value;
  if (!known) throw new MisuseError('spawn: needed a definition made by defineActor');
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
