import type { ActorContext, Logger, ResumeOn, SuspensionToken } from '../define/actor-context.js';
import type { AnyDefinition, HandlerMap, SpawnParameters } from '../define/actor-definition.js';
import type { SpawnOptions } from '../define/spawn-options.js';
import { AbortedError, MisuseError, StaleContextError } from '../errors/error-classes.js';
import { INSPECT } from '../inspect-symbol.js';
import type { Signal } from '../lifecycle/runtime-signal.js';
import { Mailbox } from '../mailbox/mailbox.js';
import { cancelAll } from '../message/cancellation.js';
import { Failure } from '../message/expected-failure.js';
import { HandlerSignals } from '../message/handler-signals.js';
import { LaterReply } from '../message/later-reply.js';
import type { SuspendReason } from '../message/suspend-reason.js';
import { checkOptions, name } from '../option-check.js';
import type {
  ActorRef,
  AnyRef,
  AskMethods,
  AskOptions,
  OfferMethods,
  RefOf,
  SendMethods,
  TellMethods,
} from '../ref/actor-ref.js';
import type { CellRef } from '../ref/cell-ref.js';
import { checkRefArgument } from '../ref/check-ref-argument.js';
import type { TimerMethods, TimerOptions } from '../ref/timer-methods.js';
import type { PoolOptions } from '../routing/pool.js';
import type { PoolRef } from '../routing/router-ref.js';
import type { StopReason } from '../runtime-event.js';
import { STOP_REASONS } from '../runtime-event.js';
import type { RunningTree } from '../tree/start-tree.js';
import type { SupervisorSpec } from '../tree/tree-spec.js';
import { link, unlink } from './actor-links.js';
import type { ActorType } from './actor-type.js';
import { ColdState } from './cold-state.js';
import type { OnNameChange } from './name-watches.js';

const TIMER_RULES = { key: name };

/** The place of an ended actor: with it, its id and its path stay what they were. */
interface EndedPlace {
  readonly generation: number;
  readonly parent: CellRef | undefined;
}

/**
 * One incarnation of an actor: its mailbox, its state, and the context its handlers get, in one object of
 * eight fields. A restart makes a new cell that takes over slot, mailbox and cold state; the old one is
 * fenced for good, so a continuation that still holds it is refused without any bookkeeping.
 */
export class ActorCell extends Mailbox implements ActorContext<unknown> {
  declare type: ActorType;
  args: unknown;
  ref: CellRef;
  cold: ColdState | undefined;
  /** The last field, so that `afterLastTurn` can take it away without slowing any access to the others. */
  state: unknown;

  constructor(type: ActorType, slot: number, args: unknown, ref: CellRef | undefined) {
    super(type, slot);
    this.args = args;
    this.cold = undefined;
    this.state = undefined;
    this.ref = ref ?? new type.definition['~refClass'](this);
  }

  ensureCold(): ColdState {
    this.cold ??= new ColdState();
    return this.cold;
  }

  /** Puts a signal into the signal lane and schedules the actor. */
  putSignal(signal: Signal): void {
    if (!this.isCurrent) return;
    this.ensureCold().signals.push(signal);
    this.markSignalled();
    this.type.runtime.ready.registerReady(this);
  }

  // A terminated cell takes no requests: its slot may belong to another actor, which would then be in the
  // ring twice.

  /** Ends a drain too: the rest of its backlog becomes dead letters. */
  requestStop(): void {
    if (!this.isCurrent) return;
    this.markStopRequested();
    this.type.runtime.ready.registerReady(this);
  }

  requestDrain(): void {
    if (this.isClosed) return;
    this.markDrainRequested();
    this.type.runtime.ready.registerReady(this);
  }

  requestKill(): void {
    if (!this.isCurrent) return;
    this.markKillRequested();
    this.type.runtime.ready.registerReady(this);
  }

  /** The parent ends it for good. */
  release(): void {
    this.markReleased();
    this.requestStop();
  }

  /** From now on a permanent child stays ended too. Without cold state it is not permanent. */
  markReleased(): void {
    if (this.cold !== undefined) this.cold.released = true;
  }

  get path(): string {
    return this.type.runtime.registry.pathOf(this);
  }

  get id(): string {
    const { cold, type } = this;
    const known = cold?.home?.id ?? cold?.route?.id;
    return known ?? `${type.runtime.remote?.idPrefix ?? ''}${this.slot}.${this.generation}`;
  }

  /** How many actors had this slot before. */
  get generation(): number {
    return this.isTerminated
      ? (this.args as EndedPlace).generation
      : this.type.runtime.ready.slots.generationOf(this.slot);
  }

  /**
   * The slot will soon belong to another actor. Three facts that a report may still want take the place of
   * fields that are no longer needed: generation and parent stand in the arguments, the reason in the status.
   */
  terminate(reason: StopReason, parent: CellRef | undefined): void {
    const generation = this.type.runtime.ready.slots.generationOf(this.slot);
    this.markTerminated(STOP_REASONS.indexOf(reason));
    this.args = { generation, parent } satisfies EndedPlace;
    this.refuseState();
  }

  /** The incarnation has ended: every use of its state is refused. */
  refuseState(): void {
    this.state = this.type.endedState;
  }

  /**
   * From now on `state` is an accessor that throws, on an assignment too, while that of a living actor is a
   * plain field. Both steps change the shape of the object and keep it fast: it is the last field that goes.
   * Code that runs in every turn must not see that shape, or it is slower for all actors from then on.
   */
  override afterLastTurn(): void {
    // An actor with an asynchronous handler, children, timers or a name has cold state; the others end by the
    // thousand, and a change of their shape would cost more than their whole life.
    if (this.isTerminated && this.cold === undefined) return;
    delete (this as { state?: unknown }).state;
    Object.setPrototypeOf(this, ENDED);
  }

  get stopReason(): StopReason {
    return STOP_REASONS[this.terminationCode] as StopReason;
  }

  /** Undefined for the guardian. Known of a terminated actor too. */
  get parentRef(): CellRef | undefined {
    if (this.isTerminated) return (this.args as EndedPlace).parent;
    return this.type.runtime.childLists.parentOf(this.slot)?.ref;
  }

  get self(): AnyRef {
    return this.ref;
  }

  get parent(): AnyRef | undefined {
    const parent = this.cold?.home === undefined ? this.parentRef : this.cold.home.parent;
    return parent === this.type.runtime.guardian.ref ? undefined : parent;
  }

  get phase(): string | undefined {
    return this.type.phase;
  }

  get children(): readonly AnyRef[] {
    return this.type.runtime.childLists.childrenOf(this).map((child) => child.ref);
  }

  get signal(): AbortSignal {
    const { asks } = this.type.runtime;
    const envelope = asks.messageOf(this);
    const signals = this.ensureHandlerSignals();
    const signal = signals.signalOf(envelope === undefined ? undefined : asks.askedBy(envelope));
    const why = this.reasonToEnd();
    if (why !== undefined) signals.abortAll(new AbortedError(this.path, why));
    return signal;
  }

  ensureHandlerSignals(): HandlerSignals {
    const cold = this.ensureCold();
    cold.handlerSignals ??= new HandlerSignals();
    return cold.handlerSignals;
  }

  /** The incarnation ends at once: its handlers should end, and with them its asks and waiting sends. */
  abortHandlers(why: string): void {
    const { handlerSignals, waits } = this.ensureCold();
    const open = waits?.cancellable() ?? [];
    if (handlerSignals === undefined && open.length === 0) return;
    const reason = new AbortedError(this.path, why);
    handlerSignals?.abortAll(reason);
    cancelAll(open, reason);
  }

  /** Why its handlers should end; undefined while they need not. Hooks of the end are part of the end. */
  private reasonToEnd(): string | undefined {
    if (!this.isCurrent) return 'the actor has been restarted or stopped';
    return this.cold?.ending?.stage === 'current-message' ? 'the actor is stopping' : undefined;
  }

  get log(): Logger {
    return this.type.runtime.log.loggerFor(this);
  }

  now(): number {
    return this.type.runtime.host.now();
  }

  random(): number {
    return this.type.runtime.host.random();
  }

  spawn<D extends AnyDefinition>(definition: D, ...[options]: SpawnParameters<D, SpawnOptions>): ActorRef<D> {
    this.checkMaySpawn('spawn');
    return this.type.runtime.spawner.spawn(this, definition, options).ref as unknown as ActorRef<D>;
  }

  spawnPool<D extends AnyDefinition>(definition: D, options: PoolOptions<D>): PoolRef<D> {
    this.checkMaySpawn('spawnPool');
    return this.type.runtime.subtrees.spawnPool(this, definition, options);
  }

  start<D extends AnyDefinition>(tree: SupervisorSpec<D>): RunningTree<D> {
    this.checkMaySpawn('start');
    return this.type.runtime.subtrees.startTree(this, tree);
  }

  lookup<D extends AnyDefinition>(definition: D, path: string): ActorRef<D> | undefined {
    this.checkCurrent('lookup');
    return this.type.runtime.registry.lookup(definition, path) as unknown as ActorRef<D> | undefined;
  }

  watchName<D extends AnyDefinition>(
    definition: D,
    path: string,
    onChange: (ref: ActorRef<D> | undefined) => void,
  ): () => void {
    this.checkCurrent('watchName');
    return this.type.runtime.nameWatches.watch(this, definition, path, onChange as OnNameChange);
  }

  event(key: string): number {
    this.checkCurrent('event');
    return this.type.runtime.suspensions.event(key);
  }

  stop(ref?: AnyRef): void {
    this.mayEnd(ref, 'stop')?.requestStop();
  }

  drain(ref?: AnyRef): void {
    this.mayEnd(ref, 'drain')?.requestDrain();
  }

  kill(ref?: AnyRef): void {
    this.mayEnd(ref, 'kill')?.requestKill();
  }

  watch(ref: AnyRef): void {
    this.checkCurrent('watch');
    checkRefArgument('watch.ref', ref);
    this.type.runtime.deathWatch.watch(this, ref as CellRef);
  }

  unwatch(ref: AnyRef): void {
    this.checkCurrent('unwatch');
    checkRefArgument('unwatch.ref', ref);
    this.type.runtime.deathWatch.unwatch(this, ref as CellRef);
  }

  link(ref: AnyRef): void {
    this.checkCurrent('link');
    checkRefArgument('link.ref', ref);
    link(this, ref as CellRef);
  }

  unlink(ref: AnyRef): void {
    this.checkCurrent('unlink');
    checkRefArgument('unlink.ref', ref);
    unlink(this, ref as CellRef);
  }

  tell<H extends HandlerMap>(ref: RefOf<H>): TellMethods<H> {
    return (ref as unknown as CellRef).tellAs(this) as TellMethods<H>;
  }

  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H> {
    return (ref as unknown as CellRef).askAs(this, options) as AskMethods<H>;
  }

  send<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): SendMethods<H> {
    return (ref as unknown as CellRef).sendAs(this, options) as SendMethods<H>;
  }

  offer<H extends HandlerMap>(ref: RefOf<H>): OfferMethods<H> {
    return (ref as unknown as CellRef).offerAs(this) as OfferMethods<H>;
  }

  after<H extends HandlerMap>(ms: number, ref: RefOf<H>, options?: TimerOptions): TimerMethods<H> {
    return this.timerMethods(ms, ref, options, false);
  }

  every<H extends HandlerMap>(ms: number, ref: RefOf<H>, options?: TimerOptions): TimerMethods<H> {
    return this.timerMethods(ms, ref, options, true);
  }

  cancel(key: string): boolean {
    return this.type.runtime.timers.cancel(this, key);
  }

  receiveTimeout(ms: number | undefined): void {
    this.checkCurrent('receiveTimeout');
    this.type.runtime.timers.setReceiveTimeout(this, ms);
  }

  stash(): void {
    this.checkCurrent('stash');
    this.type.runtime.stashes.stash(this);
  }

  unstash(): void {
    this.checkCurrent('unstash');
    this.type.runtime.stashes.unstash(this);
  }

  become(phase: string): void {
    this.checkCurrent('become');
    const type = this.type.inPhase(phase);
    if (type === undefined) throw new MisuseError(`${this.path}: become('${phase}'): there is no such phase`);
    this.type = type;
    if (type.hasPhaseHooks) this.putSignal({ kind: 'phase-changed' });
    if (type.spec.illegal === 'stash') this.type.runtime.stashes.unstash(this);
  }

  suspend(reason: SuspendReason, until?: ResumeOn): SuspensionToken {
    this.checkCurrent('suspend');
    return this.type.runtime.suspensions.suspend(this, reason, until);
  }

  later<T>(): LaterReply<T> {
    const { asks } = this.type.runtime;
    return new LaterReply<T>(asks, asks.messageOf(this));
  }

  fail<Code extends string, Detail = undefined>(code: Code, detail?: Detail): Failure<Code, Detail> {
    const failure = new Failure(code, detail as Detail);
    this.type.runtime.unreturned.made(this, failure);
    return failure;
  }

  override toString(): string {
    return `context(${this.path})`;
  }

  toJSON(): string {
    return this.toString();
  }

  [INSPECT](): string {
    return this.toString();
  }

  /** A continuation of an earlier incarnation must not act in the name of this one. */
  checkCurrent(what: string): void {
    if (this.isCurrent) return;
    this.type.runtime.log.reportStaleContext(this, what);
    throw new StaleContextError(this.path, what);
  }

  private checkMaySpawn(what: string): void {
    this.checkCurrent(what);
    if (this.cold?.ending?.kind === 'restart')
      throw new MisuseError(
        `${this.path}: ${what}: its children have ended for its restart; spawn in \`started\``,
      );
  }

  private mayEnd(ref: AnyRef | undefined, verb: string): ActorCell | undefined {
    this.checkCurrent(verb);
    if (ref === undefined) return this;
    const cell = checkRefArgument(`${verb}.ref`, ref);
    if (cell.isTerminated || cell === this) return cell === this ? this : undefined;
    if (this.type.runtime.childLists.parentOf(cell.slot) !== this) {
      throw new MisuseError(
        `${this.path}: ${verb}(${cell.path}): not a child; ask it, or use system.${verb}`,
      );
    }
    cell.markReleased();
    return cell;
  }

  private timerMethods<H extends HandlerMap>(
    ms: number,
    ref: RefOf<H>,
    options: TimerOptions | undefined,
    repeat: boolean,
  ): TimerMethods<H> {
    const verb = repeat ? 'every' : 'after';
    this.checkCurrent(verb);
    checkRefArgument(`${verb}.ref`, ref);
    if (options !== undefined) checkOptions(verb, options, TIMER_RULES);
    const terms = { owner: this, ms, repeat, key: options?.key };
    return (ref as unknown as CellRef).timer(terms) as TimerMethods<H>;
  }
}

// In place of the prototype of every ended cell: its state is refused.
const ENDED = Object.create(ActorCell.prototype, {
  state: {
    get(this: ActorCell): never {
      return reportUse(this);
    },
    set(this: ActorCell): void {
      reportUse(this);
    },
  },
}) as object;

function reportUse(cell: ActorCell): never {
  cell.type.runtime.log.reportStaleContext(cell, 'state');
  throw new StaleContextError(cell.path, 'state');
}
