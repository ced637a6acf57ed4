export { type ClassContext, type ClassOptions, fromClass, type MethodHandlers } from './adapt/from-class.js';
export { type Dialogue, fromGenerator, type GeneratorHandlers } from './adapt/from-generator.js';
export { fromReducer, type ReducerHandlers, type ReducerOptions } from './adapt/from-reducer.js';
export { type MessagesFor, type ToActorOptions, toActor } from './adapt/pipe-to-actor.js';
export { fromActor, type Inbox, type InboxHandlers, type InboxOptions } from './adapt/stream-from-actor.js';
export type { ActorContext, Logger, ResumeOn, SuspensionToken } from './define/actor-context.js';
export type {
  ActorDefinition,
  ActorHooks,
  ActorSettings,
  ActorSpec,
  AnyDefinition,
  ArgsOf,
  ArgsOption,
  HandlerMap,
  HandlersFor,
  HandlersOf,
  LooseLayouts,
  MailboxOptions,
  NoLayouts,
  NoPhases,
  PayloadArgs,
  PhaseHooks,
  PhasesFor,
  SpawnParameters,
  StateOf,
  Terminated,
  WithPhases,
} from './define/actor-definition.js';
export { type DefineByProtocol, defineActor } from './define/define-actor.js';
export type {
  FieldForm,
  FixedLayout,
  FormOf,
  LayoutFields,
  NumberForm,
  TextForm,
} from './define/fixed-layout.js';
export type {
  Actor,
  PhaseOfProtocol,
  ProtocolContext,
  ProtocolHandlers,
  ProtocolLayouts,
  ProtocolRule,
  ProtocolSpec,
  Ref,
} from './define/protocol.js';
export type { SpawnOptions } from './define/spawn-options.js';
export type {
  Backoff,
  ChildFailure,
  Directive,
  RestartType,
  Strategy,
  SupervisionPolicy,
} from './define/supervision-policy.js';
export {
  AbortedError,
  ActorFailedError,
  AskCycleError,
  AskTimeoutError,
  ChildEndedError,
  EscalatedError,
  HandlerTimeoutError,
  LookupError,
  MiddlewareError,
  MisuseError,
  NameTakenError,
  NoRouteeError,
  OptionError,
  SendCycleError,
  SendTimeoutError,
  StaleContextError,
  SystemStoppedError,
  ThrownValueError,
  TreeError,
  TroupeError,
  UndeliveredError,
} from './errors/error-classes.js';
export type { EventListener } from './event-stream.js';
export type { SystemExecutor } from './executor/executor.js';
export type { Host, HostTimer, LogEntry, LogLevel } from './host.js';
export type { ActorStatus, ActorView, InspectOptions } from './inspect/actor-view.js';
export { liveTreeText } from './inspect/live-tree-text.js';
export type { WarnLimits } from './inspect/slow-actor-warnings.js';
export type { Delivered } from './mailbox/delivery.js';
export type { Level } from './mailbox/levelled-queue.js';
export type { OverflowPolicy } from './mailbox/overflow-policy.js';
export type { DeadLetter, DeadLetterReason } from './message/dead-letter.js';
export { Failure, isFailure } from './message/expected-failure.js';
export type { LaterReply } from './message/later-reply.js';
export type { ResumeCondition, SuspendReason } from './message/suspend-reason.js';
export type { PackedContexts } from './middleware/crossing-contexts.js';
export type {
  CrossingView,
  DeadLetterView,
  Installation,
  MessageView,
  Middleware,
  Outcome,
  RetryRequest,
  SendView,
  TurnView,
  Verdict,
} from './middleware/middleware.js';
export { type ExitSignal, exitOn } from './node-exit-on-signals.js';
export { nodeHost } from './node-host.js';
export type {
  ActorRef,
  AnyRef,
  AskMethods,
  AskOptions,
  CallMethods,
  OfferMethods,
  RefOf,
  ReplyOf,
  SendMethods,
  TellMethods,
} from './ref/actor-ref.js';
export type { ActorTimer, TimerMethods, TimerOptions } from './ref/timer-methods.js';
export { MONITOR_WORDS, type RingPositions, ThreadNotes } from './remote/notes/thread-monitor.js';
export type {
  ActorAddress,
  RemoteAsk,
  RemoteDefinition,
  RemoteRef,
  RemoteSignal,
  SystemThreads,
  ThreadReceiver,
  ThreadSettings,
  Threads,
  UnreadMessage,
} from './remote/threads.js';
export type { PoolOptions, PoolSettings, Spawner } from './routing/pool.js';
export { type GroupRouting, router } from './routing/router.js';
export type { Gathered, GatherMethods, PoolRef, RouterRef } from './routing/router-ref.js';
export type { KeyOf, PullOptions, Routing } from './routing/routing-option.js';
export type { InvokeResult } from './run-queue/invoke-result.js';
export type { RuntimeEvent, StopReason } from './runtime-event.js';
export type { ShutdownOptions, ShutdownPhase, ShutdownTask, Unfinished } from './shutdown.js';
export type { ActorSystem, InspectAllOptions, StopOptions, SystemReport, SystemStats } from './system.js';
export { createSystem } from './system.js';
export type { SystemOptions } from './system-options.js';
export { diffTrees, type TreeChange } from './tree/diff-trees.js';
export type { RunningTree } from './tree/start-tree.js';
export {
  type ChildOptions,
  type ChildSpec,
  child,
  type DefinitionsIn,
  type NodeSettings,
  type PoolSpec,
  pool,
  type SupervisorOptions,
  type SupervisorSpec,
  supervisor,
  type TreeNode,
} from './tree/tree-spec.js';
export { printTree } from './tree/tree-spec-text.js';
