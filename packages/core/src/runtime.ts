import { ActorCell } from './actor/actor-cell.js';
import { ActorSpawner } from './actor/actor-spawner.js';
import { ActorTimers } from './actor/actor-timers.js';
import { ActorTypeCache } from './actor/actor-type-cache.js';
import { NameRegistry } from './actor/name-registry.js';
import { NameWatches } from './actor/name-watches.js';
import type { RuntimeParts, SubtreeStarter } from './actor/runtime-parts.js';
import type { AnyDefinition } from './define/actor-definition.js';
import { messageOf } from './errors/bounded-error.js';
import { toError } from './errors/thrown-value.js';
import { EventStream } from './event-stream.js';
import type { Executor } from './executor/executor.js';
import type { Host } from './host.js';
import { FlightRecorder } from './inspect/flight-recorder.js';
import { messageHistoryOf } from './inspect/message-history.js';
import { RuntimeLog } from './inspect/runtime-log.js';
import { SlowActorWarnings } from './inspect/slow-actor-warnings.js';
import { MessageInvoker } from './invoker/message-invoker.js';
import { AsyncHandlerParking } from './lifecycle/async-handler-parking.js';
import { HandlerResults } from './lifecycle/handler-results.js';
import { LifecycleHooks } from './lifecycle/lifecycle-hooks.js';
import { PhaseTransitions } from './lifecycle/phase-transitions.js';
import { SignalHandling } from './lifecycle/signal-handling.js';
import { StopSequence } from './lifecycle/stop-sequence.js';
import { Suspensions } from './lifecycle/suspensions.js';
import { Termination } from './lifecycle/termination.js';
import { UnreturnedFailures } from './lifecycle/unreturned-expected-failures.js';
import { BackPressure } from './mailbox/back-pressure.js';
import { DeadLetterPublisher } from './mailbox/dead-letter-publisher.js';
import { Delivery } from './mailbox/delivery.js';
import { MissingPhaseHandlers } from './mailbox/missing-phase-handlers.js';
import { Stashes } from './mailbox/stashes.js';
import { DeadLetterHooks } from './middleware/hooks/dead-letter-hooks.js';
import { MessageHooks } from './middleware/hooks/message-hooks.js';
import { SendHooks } from './middleware/hooks/send-hooks.js';
import { TurnHooks } from './middleware/hooks/turn-hooks.js';
import type { Middleware } from './middleware/middleware.js';
import { Asks } from './ref/asks.js';
import { MonitoredDelivery } from './remote/notes/monitored-delivery.js';
import { ThreadMonitor } from './remote/notes/thread-monitor.js';
import { RemoteActors } from './remote/remote-actors.js';
import type { SystemThreads } from './remote/threads.js';
import { spawnPool } from './routing/pool.js';
import { ReadyQueueCoordinator } from './run-queue/ready-queue-coordinator.js';
import { ActorFailures } from './supervision/actor-failures.js';
import { ChildLists } from './supervision/child-lists.js';
import { DeathWatch } from './supervision/death-watch.js';
import type { FailureReport } from './supervision/failure-report.js';
import { RestartSequence } from './supervision/restart-sequence.js';
import { Supervisor } from './supervision/supervisor.js';
import type { SystemSettings } from './system-options.js';
import { TimerWheel } from './timers/timer-wheel.js';
import { startTree } from './tree/start-tree.js';
import { WaitCycles } from './waits/wait-cycles.js';
import { WaitGraph } from './waits/wait-graph.js';
import { WaitingSends } from './waits/waiting-sends.js';

const NO_MIDDLEWARE: readonly Middleware[] = [];

/**
 * The composition root: makes the parts of one system and wires them. It has no behaviour of its own. The
 * parts refer to each other in circles, so each gets this object, typed as the parts that it may touch.
 */
export class Runtime implements RuntimeParts {
  readonly host: Host;
  readonly executor: Executor<ActorCell>;
  readonly events: EventStream;
  readonly log: RuntimeLog;
  readonly recorder: FlightRecorder | undefined;
  readonly ready: ReadyQueueCoordinator<ActorCell>;
  readonly invoker: MessageInvoker<ActorCell>;
  readonly wheel: TimerWheel;
  readonly timers = new ActorTimers(this);
  readonly delivery: Delivery<ActorCell>;
  readonly deadLetters = new DeadLetterPublisher(this);
  readonly asks: Asks;
  readonly sends = new WaitingSends(this);
  readonly sendHooks = new SendHooks(this);
  readonly deadLetterHooks = new DeadLetterHooks(this);
  readonly messageHooks: MessageHooks;
  readonly stashes = new Stashes(this);
  readonly backPressure: BackPressure;
  readonly waitGraph = new WaitGraph(this);
  readonly waitCycles = new WaitCycles(this);
  readonly suspensions = new Suspensions(this);
  readonly missingPhaseHandlers = new MissingPhaseHandlers(this);
  readonly childLists: ChildLists;
  readonly registry = new NameRegistry(this);
  readonly nameWatches = new NameWatches(this);
  readonly spawner: ActorSpawner;
  readonly subtrees: SubtreeStarter = { spawnPool, startTree };
  readonly results = new HandlerResults(this);
  readonly signals = new SignalHandling(this);
  readonly hooks = new LifecycleHooks(this);
  readonly phases = new PhaseTransitions(this);
  readonly parking = new AsyncHandlerParking(this);
  readonly unreturned = new UnreturnedFailures(this);
  readonly failures: ActorFailures;
  readonly supervisor: Supervisor;
  readonly restarts = new RestartSequence(this);
  readonly stops = new StopSequence(this);
  readonly termination = new Termination(this);
  readonly deathWatch = new DeathWatch();
  readonly guardian: ActorCell;
  readonly remote: RemoteActors | undefined;
  readonly monitor: ThreadMonitor | undefined;

  constructor(
    host: Host,
    settings: SystemSettings,
    executor: Executor<ActorCell>,
    guardian: AnyDefinition,
    onGuardianFailed: (report: FailureReport) => void,
  ) {
    this.host = host;
    this.executor = executor;
    this.events = new EventStream((error) =>
      this.log.write('error', `an event listener threw: ${messageOf(toError(error))}`, {}),
    );
    this.recorder = settings.recorder ? new FlightRecorder() : undefined;
    this.backPressure = new BackPressure(this, settings.stuckAfterMs);
    this.ready = new ReadyQueueCoordinator(executor, this.backPressure, settings.queuedMax, this.recorder);
    this.log = new RuntimeLog(host, this.events, (slot) => messageHistoryOf(this.recorder, this.ready, slot));
    this.monitor = this.monitorOf(settings.threads);
    this.delivery = this.deliveryOf(this.monitor);
    this.childLists = new ChildLists((slot) => this.ready.slots.mailboxes[slot]);
    this.wheel = new TimerWheel(host, () => this.wheel.advance(host.now()));
    this.messageHooks = new MessageHooks(this);
    this.failures = new ActorFailures(this, onGuardianFailed);
    this.supervisor = new Supervisor(this, settings.supervise);
    this.asks = new Asks(this, settings.askWithinMs);
    this.invoker = new MessageInvoker(
      this.ready,
      this.signals,
      this.results,
      this.asks,
      this.messageHooks,
      new TurnHooks(this),
    );
    const warnings = settings.warn === undefined ? undefined : new SlowActorWarnings(this, settings.warn);
    executor.attach(this.ready, this.invoker, () => this.turnEnded(), warnings);
    const types = new ActorTypeCache(this, settings.middleware);
    this.spawner = new ActorSpawner(this, types, settings);
    const slot = this.ready.slots.reserve();
    this.guardian = new ActorCell(types.of(guardian, NO_MIDDLEWARE), slot, undefined, undefined);
    this.ready.slots.put(slot, this.guardian);
    this.remote =
      settings.threads === undefined ? undefined : new RemoteActors(this, settings.threads, settings);
  }

  /** The actors were served, and the event loop has its turn. */
  private turnEnded(): void {
    this.wheel.holdProcess();
    this.remote?.looked();
  }

  private monitorOf(threads: SystemThreads | undefined): ThreadMonitor | undefined {
    if (threads?.monitored === undefined) return undefined;
    const { words, self } = threads.monitored;
    return new ThreadMonitor(words, self, (number, type) => this.remote?.announceType(number, type));
  }

  private deliveryOf(monitor: ThreadMonitor | undefined): Delivery<ActorCell> {
    const { ready, deadLetters, sendHooks, recorder } = this;
    if (monitor === undefined) return new Delivery(ready, deadLetters, sendHooks, recorder);
    return new MonitoredDelivery(ready, deadLetters, sendHooks, recorder, monitor);
  }
}
