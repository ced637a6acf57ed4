import type { AnyDefinition } from '../define/actor-definition.js';
import type { SpawnOptionsWithArgs } from '../define/spawn-options.js';
import type { EventStream } from '../event-stream.js';
import type { Executor } from '../executor/executor.js';
import type { Host } from '../host.js';
import type { FlightRecorder } from '../inspect/flight-recorder.js';
import type { RuntimeLog } from '../inspect/runtime-log.js';
import type { MessageInvoker } from '../invoker/message-invoker.js';
import type { AsyncHandlerParking } from '../lifecycle/async-handler-parking.js';
import type { HandlerResults } from '../lifecycle/handler-results.js';
import type { LifecycleHooks } from '../lifecycle/lifecycle-hooks.js';
import type { PhaseTransitions } from '../lifecycle/phase-transitions.js';
import type { SignalHandling } from '../lifecycle/signal-handling.js';
import type { StopSequence } from '../lifecycle/stop-sequence.js';
import type { Suspensions } from '../lifecycle/suspensions.js';
import type { Termination } from '../lifecycle/termination.js';
import type { UnreturnedFailures } from '../lifecycle/unreturned-expected-failures.js';
import type { BackPressure } from '../mailbox/back-pressure.js';
import type { DeadLetterPublisher } from '../mailbox/dead-letter-publisher.js';
import type { Delivery } from '../mailbox/delivery.js';
import type { MissingPhaseHandlers } from '../mailbox/missing-phase-handlers.js';
import type { Stashes } from '../mailbox/stashes.js';
import type { DeadLetterHooks } from '../middleware/hooks/dead-letter-hooks.js';
import type { MessageHooks } from '../middleware/hooks/message-hooks.js';
import type { SendHooks } from '../middleware/hooks/send-hooks.js';
import type { Asks } from '../ref/asks.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { ThreadMonitor } from '../remote/notes/thread-monitor.js';
import type { PoolOptions } from '../routing/pool.js';
import type { PoolRef } from '../routing/router-ref.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import type { ActorFailures } from '../supervision/actor-failures.js';
import type { ChildLists } from '../supervision/child-lists.js';
import type { DeathWatch } from '../supervision/death-watch.js';
import type { RestartSequence } from '../supervision/restart-sequence.js';
import type { Supervisor } from '../supervision/supervisor.js';
import type { TimerWheel } from '../timers/timer-wheel.js';
import type { RunningTree } from '../tree/start-tree.js';
import type { SupervisorSpec } from '../tree/tree-spec.js';
import type { WaitCycles } from '../waits/wait-cycles.js';
import type { WaitGraph } from '../waits/wait-graph.js';
import type { WaitingSends } from '../waits/waiting-sends.js';
import type { ActorCell } from './actor-cell.js';
import type { ActorSpawner } from './actor-spawner.js';
import type { ActorTimers } from './actor-timers.js';
import type { NameRegistry } from './name-registry.js';
import type { NameWatches } from './name-watches.js';

/** Decides which actor runs, and runs it. */
export interface Scheduling {
  readonly ready: ReadyQueueCoordinator<ActorCell>;
  readonly invoker: MessageInvoker<ActorCell>;
}

/** Clocks and timers. */
export interface TimeSource {
  readonly host: Host;
  /** Has the time of the last clock read, which costs nothing. */
  readonly executor: Executor<ActorCell>;
  readonly wheel: TimerWheel;
  readonly timers: ActorTimers;
}

/** Messages on their way, and messages that wait. */
export interface Messaging {
  readonly delivery: Delivery<ActorCell>;
  readonly deadLetters: DeadLetterPublisher;
  readonly asks: Asks;
  readonly sends: WaitingSends;
  readonly sendHooks: SendHooks;
  readonly deadLetterHooks: DeadLetterHooks;
  readonly messageHooks: MessageHooks;
  readonly stashes: Stashes;
  readonly backPressure: BackPressure;
  readonly waitGraph: WaitGraph;
  /** Undefined where it is off. */
  readonly recorder: FlightRecorder | undefined;
  readonly waitCycles: WaitCycles;
  readonly suspensions: Suspensions;
  readonly missingPhaseHandlers: MissingPhaseHandlers;
}

/** The tree of actors and their names. */
export interface ActorTree {
  readonly guardian: ActorCell;
  readonly childLists: ChildLists;
  readonly registry: NameRegistry;
  readonly nameWatches: NameWatches;
  readonly spawner: ActorSpawner;
  readonly subtrees: SubtreeStarter;
  /** Undefined for a system of one thread. */
  readonly remote: RemotePlaces | undefined;
  /** Undefined for a thread that no other watches. */
  readonly monitor: ThreadMonitor | undefined;
}

/** Actors on other threads, as the spawner and the cells use them. */
export interface RemotePlaces {
  /** Delivers to proxies. */
  readonly delivery: Delivery<ActorCell>;
  /** In front of the ids of this thread's actors. */
  readonly idPrefix: string;
  /** Definition and options of the proxy of an actor that is to run elsewhere; undefined for one here. */
  place(
    definition: AnyDefinition,
    options: SpawnOptionsWithArgs,
  ): { readonly definition: AnyDefinition; readonly options: SpawnOptionsWithArgs } | undefined;
  /** The proxy was spawned. */
  spawned(cell: ActorCell): void;
  nameOf(thread: number): string;
  /** The thread of that routee of a pool on each thread. */
  threadOfRoutee(serial: number): string;
  /** The actor of that path that has its home on another thread. */
  refNamed(path: string): CellRef | undefined;
  /** An actor of this thread has taken or left its name. */
  nameTaken(path: string, cell: ActorCell): void;
  nameLeft(path: string): void;
}

/** Starts pools and supervision trees, which are made of actors. */
export interface SubtreeStarter {
  spawnPool<D extends AnyDefinition>(parent: ActorCell, definition: D, options: PoolOptions<D>): PoolRef<D>;
  startTree<D extends AnyDefinition>(parent: ActorCell, tree: SupervisorSpec<D>): RunningTree<D>;
}

/** Start, failure, restart and end of an actor. */
export interface Lifecycles {
  readonly results: HandlerResults;
  readonly signals: SignalHandling;
  readonly hooks: LifecycleHooks;
  readonly phases: PhaseTransitions;
  readonly parking: AsyncHandlerParking;
  readonly unreturned: UnreturnedFailures;
  readonly failures: ActorFailures;
  readonly supervisor: Supervisor;
  readonly restarts: RestartSequence;
  readonly stops: StopSequence;
  readonly termination: Termination;
  readonly deathWatch: DeathWatch;
}

/** Events, log and reports. */
export interface Observers {
  readonly events: EventStream;
  readonly log: RuntimeLog;
}

/** All parts of one system. `Runtime` wires them. */
export interface RuntimeParts extends Scheduling, TimeSource, Messaging, ActorTree, Lifecycles, Observers {}

/** The parts that a class touches: its constructor takes these, and nothing else of the runtime. */
export type Parts<Name extends keyof RuntimeParts> = Pick<RuntimeParts, Name>;
