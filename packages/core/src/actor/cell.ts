import type { ActorContext, Logger, ResumeOn, SuspensionToken } from '../define/context.js';
import type { AnyDefinition, ArgsOf, HandlerMap, SpawnArgs } from '../define/definition.js';
import type { SpawnOptions } from '../define/spawn-options.js';
import { MisuseError, StaleContextError } from '../errors.js';
import type { StopReason } from '../events.js';
import { STOP_REASONS } from '../events.js';
import type { Signal } from '../lifecycle/signal.js';
import { Mailbox } from '../mailbox/mailbox.js';
import { NO_QUEUE } from '../mailbox/queue.js';
import {
  CLOSED,
  DRAINING,
  FENCED,
  KILL_ASKED,
  SCHEDULED,
  SIGNALS,
  STOP_ASKED,
  SUSPENSION,
  TERMINATED,
} from '../mailbox/status.js';
import { Failure } from '../message/expected-failure.js';
import { LaterReply } from '../message/later-reply.js';
import type { SuspendReason } from '../message/suspension.js';
import type { ActorRef, AnyRef, AskMethods, AskOptions, RefOf, TellMethods } from '../ref/ref.js';
import { cellOfRef } from '../ref/ref-argument.js';
import type { RefBase } from '../ref/ref-class.js';
import type { TimerMethods, TimerOptions } from '../ref/timer-methods.js';
import { link, unlink } from '../supervision/links.js';
import type { Kind } from './actor-type.js';
import { Extras } from './cold-state.js';

/**
 * One incarnation of an actor: its mailbox, its state, and the context its handlers get, in one object of eight
 * fields. A restart makes a new cell that takes over slot, mailbox and extras; the old one is FENCED for good, so a
 * continuation that still holds it is refused without any bookkeeping (ADR 0012).
 */
export class ActorCell extends Mailbox implements ActorContext<unknown> {
  declare kind: Kind;
  state: unknown;
  args: unknown;
  ref: RefBase;
  extras: Extras | undefined;

  constructor(kind: Kind, slot: number, args: unknown, ref: RefBase | undefined) {
    super(kind, slot);
    this.status = kind.statusAtRest;
    this.state = undefined;
    this.args = args;
    this.extras = undefined;
    this.ref = ref ?? new kind.definition['~refClass'](this);
  }

  needExtras(): Extras {
    this.extras ??= new Extras();
    return this.extras;
  }

  /** Puts a signal in its lane and makes sure that it will be looked at. */
  signal(signal: Signal): void {
    if ((this.status & (TERMINATED | FENCED)) !== 0) return;
    this.needExtras().signals.push(signal);
    this.status |= SIGNALS;
    this.kind.runtime.ready.registerReady(this);
  }

  // Nothing is asked of one that is gone: its slot may be somebody else's, who would then stand in the ring twice.

  /** Also of one that drains: what is left of its backlog becomes dead letters then. */
  requestStop(): void {
    if (!this.isCurrent) return;
    this.status = (this.status & ~DRAINING) | STOP_ASKED | CLOSED;
    this.kind.runtime.ready.registerReady(this);
  }

  requestDrain(): void {
    if ((this.status & CLOSED) !== 0) return;
    this.status |= STOP_ASKED | CLOSED | DRAINING;
    this.kind.runtime.ready.registerReady(this);
  }

  requestKill(): void {
    if (!this.isCurrent) return;
    this.status |= KILL_ASKED | CLOSED;
    this.kind.runtime.ready.registerReady(this);
  }

  /** Its parent ends it for good. */
  release(): void {
    this.markReleased();
    this.requestStop();
  }

  /** From here on also a permanent child stays ended. Without extras it is not permanent. */
  markReleased(): void {
    if (this.extras !== undefined) this.extras.released = true;
  }

  get path(): string {
    return this.kind.runtime.registry.pathOf(this);
  }

  get id(): string {
    const gone = (this.status & TERMINATED) !== 0;
    const generation = gone ? (this.state as number) : this.kind.runtime.ready.slots.generationOf(this.slot);
    return `${this.slot}.${generation}`;
  }

  /**
   * Gone: the slot will be somebody else's soon. What a report may still want to know of this actor takes the place of
   * what it no longer needs: its generation that of the state, its parent that of the arguments, the reason that of the
   * suspensions.
   */
  bury(reason: StopReason, parent: RefBase | undefined): void {
    const { slots } = this.kind.runtime.ready;
    this.status =
      (this.status & SCHEDULED) | TERMINATED | CLOSED | (STOP_REASONS.indexOf(reason) * SUSPENSION);
    this.state = slots.generationOf(this.slot);
    this.args = parent;
    this.queue = NO_QUEUE;
  }

  get stopReason(): StopReason {
    return STOP_REASONS[(this.status / SUSPENSION) | 0] as StopReason;
  }

  /** Undefined for the guardian; also known of an actor that is gone. */
  get parentRef(): RefBase | undefined {
    if ((this.status & TERMINATED) !== 0) return this.args as RefBase | undefined;
    return this.kind.runtime.lineage.parentOf(this.slot)?.ref;
  }

  get self(): AnyRef {
    return this.ref;
  }

  get parent(): AnyRef | undefined {
    const parent = this.parentRef;
    return parent === this.kind.runtime.guardian.ref ? undefined : parent;
  }

  get children(): readonly AnyRef[] {
    return this.kind.runtime.lineage.childrenOf(this).map((child) => child.ref);
  }

  get abort(): AbortSignal {
    const extras = this.needExtras();
    extras.abort ??= new AbortController();
    if ((this.status & (FENCED | TERMINATED)) !== 0) extras.abort.abort();
    return extras.abort.signal;
  }

  get log(): Logger {
    return this.kind.runtime.loggerFor(this);
  }

  now(): number {
    return this.kind.runtime.host.now();
  }

  random(): number {
    return this.kind.runtime.host.random();
  }

  spawn<D extends AnyDefinition>(definition: D, ...rest: SpawnArgs<ArgsOf<D>, SpawnOptions>): ActorRef<D> {
    this.mustBeCurrent('spawn');
    if (this.extras?.stopping?.restart !== undefined)
      throw new MisuseError(
        `${this.path}: spawn: its children have ended for its restart; spawn in \`started\``,
      );
    return this.kind.runtime.spawn(this, definition, rest[0], rest[1]).ref as unknown as ActorRef<D>;
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
    this.mustBeCurrent('watch');
    cellOfRef('watch.ref', ref);
    this.kind.runtime.deathWatch.watch(this, ref as RefBase);
  }

  unwatch(ref: AnyRef): void {
    this.mustBeCurrent('unwatch');
    cellOfRef('unwatch.ref', ref);
    this.kind.runtime.deathWatch.unwatch(this, ref as RefBase);
  }

  link(ref: AnyRef): void {
    this.mustBeCurrent('link');
    cellOfRef('link.ref', ref);
    link(this, ref as RefBase);
  }

  unlink(ref: AnyRef): void {
    this.mustBeCurrent('unlink');
    cellOfRef('unlink.ref', ref);
    unlink(this, ref as RefBase);
  }

  tell<H extends HandlerMap>(ref: RefOf<H>): TellMethods<H> {
    return (ref as unknown as RefBase).tellAs(this) as TellMethods<H>;
  }

  ask<H extends HandlerMap>(ref: RefOf<H>, options?: AskOptions): AskMethods<H> {
    return (ref as unknown as RefBase).askAs(this, options?.withinMs) as AskMethods<H>;
  }

  after<H extends HandlerMap>(ms: number, ref: RefOf<H>, options?: TimerOptions): TimerMethods<H> {
    return this.timerFace(ms, ref, options, false);
  }

  every<H extends HandlerMap>(ms: number, ref: RefOf<H>, options?: TimerOptions): TimerMethods<H> {
    return this.timerFace(ms, ref, options, true);
  }

  cancel(key: string): boolean {
    return this.kind.runtime.timers.cancel(this, key);
  }

  receiveTimeout(ms: number | undefined): void {
    this.mustBeCurrent('receiveTimeout');
    this.kind.runtime.timers.setReceiveTimeout(this, ms);
  }

  stash(): void {
    this.mustBeCurrent('stash');
    this.kind.runtime.stashes.stash(this);
  }

  unstash(): void {
    this.mustBeCurrent('unstash');
    this.kind.runtime.stashes.unstash(this);
  }

  become(phase: string): void {
    this.mustBeCurrent('become');
    const kind = this.kind.inPhase(phase);
    if (kind === undefined) throw new MisuseError(`${this.path}: become('${phase}'): there is no such phase`);
    this.kind = kind;
    if (kind.spec.illegal === 'stash') this.kind.runtime.stashes.unstash(this);
  }

  suspend(reason: SuspendReason, until: ResumeOn): SuspensionToken {
    this.mustBeCurrent('suspend');
    return this.kind.runtime.suspensions.suspend(this, reason, until);
  }

  later<T>(): LaterReply<T> {
    return new LaterReply<T>(this.kind.runtime.asks);
  }

  fail<Code extends string, Detail = undefined>(code: Code, detail?: Detail): Failure<Code, Detail> {
    return new Failure(code, detail as Detail);
  }

  get isCurrent(): boolean {
    return (this.status & (FENCED | TERMINATED)) === 0;
  }

  /** A continuation of an earlier incarnation must not act in the name of this one. */
  mustBeCurrent(what: string): void {
    if (this.isCurrent) return;
    this.kind.runtime.reportStale(this, what);
    throw new StaleContextError(this.path, what);
  }

  private mayEnd(ref: AnyRef | undefined, verb: string): ActorCell | undefined {
    this.mustBeCurrent(verb);
    if (ref === undefined) return this;
    const cell = cellOfRef(`${verb}.ref`, ref);
    if ((cell.status & TERMINATED) !== 0 || cell === this) return cell === this ? this : undefined;
    if (this.kind.runtime.lineage.parentOf(cell.slot) !== this) {
      throw new MisuseError(
        `${this.path}: ${verb}(${cell.path}): not a child; ask it, or use system.${verb}`,
      );
    }
    cell.markReleased();
    return cell;
  }

  private timerFace<H extends HandlerMap>(
    ms: number,
    ref: RefOf<H>,
    options: TimerOptions | undefined,
    repeat: boolean,
  ): TimerMethods<H> {
    const verb = repeat ? 'every' : 'after';
    this.mustBeCurrent(verb);
    cellOfRef(`${verb}.ref`, ref);
    const terms = { owner: this, ms, repeat, key: options?.key };
    return (ref as unknown as RefBase).timer(terms) as TimerMethods<H>;
  }
}
