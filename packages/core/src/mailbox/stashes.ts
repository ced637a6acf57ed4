import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { MisuseError } from '../errors/error-classes.js';
import { NO_MESSAGE } from '../message/envelope.js';

const STASH_MAX_DEFAULT = 1_000;

/** A stashed message. Both fields are set when its handler has returned, where only then they are known. */
export interface Stashed {
  handler: number;
  payload: unknown;
}

/** Oldest first. */
export type Stash = Stashed[];

/**
 * Messages that handlers have stashed. A restart puts them back, a stop makes dead letters of them. A message
 * whose handler stashes it and then fails counts as handled, and is taken out again.
 */
export class Stashes {
  /** Stashed messages of all actors together. */
  held = 0;
  /** The message that the running handler has stashed, until it has ended. */
  private latest: { readonly cell: ActorCell; readonly message: Stashed } | undefined = undefined;
  /** An `unstash` waits until the latest message is known. */
  private isUnstashDue = false;
  private readonly runtime: Parts<'deadLetters' | 'delivery' | 'hooks' | 'invoker' | 'monitor' | 'ready'>;

  constructor(runtime: Stashes['runtime']) {
    this.runtime = runtime;
  }

  /**
   * The message that is being handled. On the fast path nothing notes it down: there its place in the stash
   * is taken now and filled when the handler has returned. From then on the actor is on the slow path.
   */
  stash(cell: ActorCell): void {
    const { invoker, hooks } = this.runtime;
    const isKnown = invoker.currentHandler !== NO_MESSAGE;
    if (this.runtime.delivery.sender !== cell || (!isKnown && (hooks.isRunning || cell.isOnSlowPath)))
      throw new MisuseError(`${cell.path}: stash: only while a message is handled, before any await`);
    const message = this.put(cell, invoker.currentHandler, invoker.currentPayload);
    this.runtime.monitor?.accepted();
    this.latest = { cell, message };
    if (isKnown) {
      invoker.stashed = true;
    } else {
      invoker.stashed = invoker.envelope !== undefined;
      invoker.isStashUnfilled = true;
      cell.useSlowPath();
    }
  }

  /** The handler that has stashed its message on the fast path has returned. */
  fill(cell: ActorCell, handler: number, payload: unknown): void {
    const { latest, isUnstashDue } = this;
    this.latest = undefined;
    this.isUnstashDue = false;
    if (latest !== undefined) {
      latest.message.handler = handler;
      latest.message.payload = payload;
    }
    if (isUnstashDue) this.unstash(cell);
  }

  /** The message that the running handler of this actor has stashed. */
  latestOf(cell: ActorCell): Stashed | undefined {
    return this.latest?.cell === cell ? this.latest.message : undefined;
  }

  /** The running handler has failed: its stashed message counts as handled. */
  takeOutLatest(cell: ActorCell): void {
    const latest = this.latestOf(cell);
    if (latest !== undefined) this.takeOut(cell, latest);
  }

  messageEnded(): void {
    this.latest = undefined;
  }

  /** Its handler has failed, so it counts as handled. False when it is in the mailbox again. */
  takeOut(cell: ActorCell, message: Stashed): boolean {
    const stash = cell.cold?.stash;
    const place = stash?.lastIndexOf(message) ?? -1;
    if (place < 0) return false;
    stash?.splice(place, 1);
    this.held -= 1;
    this.runtime.invoker.handled += 1;
    return true;
  }

  put(cell: ActorCell, handler: number, payload: unknown): Stashed {
    const cold = cell.ensureCold();
    cold.stash ??= [];
    const max = cell.type.spec.stashMax ?? STASH_MAX_DEFAULT;
    if (cold.stash.length >= max) {
      throw new MisuseError(`${cell.path}: stash: ${max} messages are stashed already (stashMax)`);
    }
    const message = { handler, payload };
    cold.stash.push(message);
    this.held += 1;
    this.runtime.invoker.discount();
    return message;
  }

  unstash(cell: ActorCell): void {
    if (this.runtime.invoker.isStashUnfilled) {
      this.isUnstashDue = true;
      return;
    }
    const stash = cell.cold?.stash;
    if (stash === undefined || stash.length === 0) return;
    const queue = cell.ownQueue();
    this.held -= stash.length;
    this.runtime.ready.queued += stash.length;
    for (const { handler, payload } of stash.splice(0).reverse()) queue.unshift(handler, payload);
    this.runtime.ready.registerReady(cell);
  }

  deadLetterAll(cell: ActorCell): void {
    const stash = cell.cold?.stash?.splice(0) ?? [];
    this.held -= stash.length;
    for (const { handler, payload } of stash) {
      this.runtime.deadLetters.undelivered(cell, handler, payload, 'left-over');
    }
  }
}
