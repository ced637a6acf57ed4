import type { Logger } from '../define/context.js';
import type { AnyDefinition } from '../define/definition.js';
import { checkSpawnOptions, type SpawnOptions } from '../define/spawn-options.js';
import { boundedError, MisuseError, messageOf, SystemStoppedError, toError } from '../errors.js';
import { EventStream } from '../events.js';
import type { Executor } from '../executor/executor.js';
import type { Host, LogLevel } from '../host.js';
import { FlightRecorder } from '../inspect/flight-recorder.js';
import { messageHistoryOf } from '../inspect/message-history.js';
import { TurnWarnings } from '../inspect/turn-warnings.js';
import { MessageInvoker } from '../invoker/invoker.js';
import { ActorLifecycle } from '../lifecycle/lifecycle.js';
import type { FailureReport } from '../lifecycle/signal.js';
import { Stops } from '../lifecycle/stops.js';
import { Burial } from '../lifecycle/termination.js';
import { Pressure } from '../mailbox/back-pressure.js';
import { DeadLetters } from '../mailbox/dead-letters.js';
import { Delivery } from '../mailbox/delivery.js';
import type { Handler } from '../mailbox/mailbox-type.js';
import { Stashes } from '../mailbox/stash.js';
import { CLOSED } from '../mailbox/status.js';
import { Suspensions } from '../mailbox/suspensions.js';
import { IllegalMessages } from '../mailbox/unhandled-in-phase.js';
import { checkDistinct } from '../middleware/check-middleware.js';
import { MessageHooks } from '../middleware/message-hooks.js';
import type { Middleware } from '../middleware/middleware.js';
import { Pipeline } from '../middleware/pipeline.js';
import { SendHooks } from '../middleware/send-hooks.js';
import { TurnHooks } from '../middleware/turn-hooks.js';
import { Asks } from '../ref/asks.js';
import type { RefBase } from '../ref/ref-class.js';
import { Sends } from '../ref/sends.js';
import { ReadyQueueCoordinator } from '../run-queue/coordinator.js';
import { Lineage } from '../supervision/child-lists.js';
import { DeathWatch } from '../supervision/death-watch.js';
import { Restarts } from '../supervision/restarts.js';
import { Supervisor } from '../supervision/supervisor.js';
import type { SystemSettings } from '../system-options.js';
import { TimerWheel } from '../timers/timer-wheel.js';
import { Timers } from '../timers/timers.js';
import { Kind } from './actor-type.js';
import { ActorCell } from './cell.js';
import { Registry } from './registry.js';

const NO_MIDDLEWARE: readonly Middleware[] = [];

/** The parts of one system, wired together. Actors reach it through their kind. */
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
  readonly lineage: Lineage;
  readonly registry: Registry;
  readonly lifecycle: ActorLifecycle;
  readonly restarts = new Restarts(this);
  readonly stops = new Stops(this);
  readonly burial = new Burial(this);
  readonly supervisor: Supervisor;
  readonly deathWatch = new DeathWatch();
  readonly suspensions: Suspensions;
  readonly stashes: Stashes;
  readonly timers: Timers;
  readonly asks: Asks;
  readonly sends = new Sends(this);
  readonly sendHooks = new SendHooks(this);
  readonly turnHooks = new TurnHooks(this);
  readonly messageHooks: MessageHooks;
  readonly illegal = new IllegalMessages(this);
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
  private readonly kinds = new WeakMap<readonly Middleware[], WeakMap<AnyDefinition, Kind>>();
  private lastKind: Kind | undefined = undefined;

  constructor(host: Host, options: SystemSettings, executor: Executor<ActorCell>, guardian: AnyDefinition) {
    this.host = host;
    this.options = options;
    this.executor = executor;
    this.messageHooks = new MessageHooks(this);
    this.events = new EventStream((error) =>
      this.log('error', `an event listener threw: ${messageOf(toError(error))}`, {}),
    );
    const pressure = new Pressure<ActorCell>();
    this.recorder = options.recorder ? new FlightRecorder() : undefined;
    this.ready = new ReadyQueueCoordinator<ActorCell>(executor, pressure, options.queuedMax, this.recorder);
    pressure.attach(this.ready);
    this.deadLetters = new DeadLetters(this);
    this.delivery = new Delivery<ActorCell>(this.ready, this.deadLetters, this.sendHooks, this.recorder);
    this.lineage = new Lineage((slot) => this.ready.slots.mailboxes[slot]);
    this.wheel = new TimerWheel(host, () => this.wheel.advance(host.now()));
    this.timers = new Timers(this);
    this.registry = new Registry(this);
    this.suspensions = new Suspensions(this);
    this.stashes = new Stashes(this);
    this.supervisor = new Supervisor(this);
    this.lifecycle = new ActorLifecycle(this);
    this.asks = new Asks(this, options.askWithinMs);
    this.invoker = new MessageInvoker<ActorCell>(this.ready, this.lifecycle);
    const watch = options.warn === undefined ? undefined : new TurnWarnings(this, options.warn);
    executor.attach(this.ready, this.invoker, () => this.wheel.holdProcess(), watch);
    const slot = this.ready.slots.reserve();
    this.guardian = new ActorCell(this.kindOf(guardian, NO_MIDDLEWARE), slot, undefined, undefined);
    this.ready.slots.put(slot, this.guardian);
  }

  spawn(
    parent: ActorCell,
    definition: AnyDefinition,
    args: unknown,
    options: SpawnOptions | undefined,
    ref?: RefBase,
  ): ActorCell {
    mustBeDefinition(definition);
    if ((parent.status & CLOSED) !== 0) {
      throw new SystemStoppedError(this.options.name, `spawning ${definition.name} under ${parent.path}`);
    }
    if (options !== undefined) checkSpawnOptions(options);
    if (options?.name !== undefined) this.registry.mustBeFree(parent, options.name);
    const middleware = this.middlewareFor(parent, options);
    const kind = this.kindOf(definition, middleware);
    const slot = this.ready.slots.reserve();
    const cell = new ActorCell(kind, slot, args, ref);
    // The address of a place in a tree outlives whoever held it: the next one there gets the same ref.
    if (ref !== undefined) ref.cell = cell;
    this.ready.slots.put(slot, cell);
    this.lineage.add(parent, slot);
    if (options !== undefined) this.applyOptions(cell, options);
    if (middleware !== this.options.middleware) cell.needExtras().middleware = middleware;
    this.restarts.construct(cell);
    if (kind.spec.started !== undefined) cell.signal({ kind: 'start' });
    if (this.events.hasListeners) this.events.publish({ kind: 'spawned', path: cell.path, actor: kind.name });
    return cell;
  }

  /** A message that has no handler in the present phase. */
  illegalHandler(name: string): Handler {
    return this.illegal.handlerFor(name);
  }

  /** A restart begins in the first phase again. */
  firstPhaseOf(kind: Kind): Kind {
    const first = Object.keys(kind.spec.phases ?? {})[0];
    return first === undefined ? kind : (kind.inPhase(first) as Kind);
  }

  guardianFailed(report: FailureReport): void {
    this.onGuardianFailed(report);
  }

  /** The line's fields are the event. the message history is looked up only for those who read it: that takes longer than a restart. */
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
  reportStale(cell: ActorCell, what: string, rejection?: { readonly thrown: unknown }): void {
    const path = cell.path;
    const text = `${path}: ${what} was refused: the context is from before a restart or stop`;
    if (rejection === undefined) this.log('warn', text, { path, what });
    else this.logUnheard(text, { path, what }, rejection.thrown);
    if (this.events.hasListeners) this.events.publish({ kind: 'stale-context', path, what });
  }

  /** An error that comes too late to be a failure is at least said. */
  logUnheard(text: string, fields: Readonly<Record<string, unknown>>, thrown: unknown): void {
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
    if (options.restart !== undefined) cell.needExtras().restartType = options.restart;
    if (options.supervise !== undefined) cell.needExtras().policy = options.supervise;
    if (options.significant !== undefined) cell.needExtras().significant = options.significant;
  }

  /** A subtree's middleware is handed down from parent to child. */
  private middlewareFor(parent: ActorCell, options: SpawnOptions | undefined): readonly Middleware[] {
    const inherited = parent.extras?.middleware ?? this.options.middleware;
    return options?.middleware === undefined ? inherited : [...inherited, ...options.middleware];
  }

  private kindOf(definition: AnyDefinition, middleware: readonly Middleware[]): Kind {
    const last = this.lastKind;
    if (last !== undefined && last.definition === definition && middleware === this.options.middleware)
      return last;
    let byDefinition = this.kinds.get(middleware);
    if (byDefinition === undefined) {
      byDefinition = new WeakMap();
      this.kinds.set(middleware, byDefinition);
    }
    let kind = byDefinition.get(definition);
    if (kind === undefined) {
      const all = [...middleware, ...(definition['~spec'].middleware ?? [])];
      checkDistinct(all);
      kind = new Kind(this, definition, Pipeline.of(all));
      byDefinition.set(definition, kind);
    }
    if (middleware === this.options.middleware) this.lastKind = kind;
    return kind;
  }
}

export function mustBeDefinition(value: unknown): asserts value is AnyDefinition {
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
