import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { MisuseError } from '../errors.js';
import { NO_MESSAGE } from '../message/envelope.js';

const STASH_MAX_DEFAULT = 1_000;

/** A stashed message. */
export interface Stashed {
  readonly handler: number;
  readonly payload: unknown;
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
  private readonly runtime: Parts<'deadLetters' | 'delivery' | 'invoker' | 'ready'>;

  constructor(runtime: Stashes['runtime']) {
    this.runtime = runtime;
  }

  /** The message that is being handled: only known for actors that declare a `stashMax`. */
  stash(cell: ActorCell): void {
    const { invoker } = this.runtime;
    if (cell.type.spec.stashMax === undefined)
      throw new MisuseError(`${cell.path}: stash: the definition needs a stashMax`);
    if (invoker.currentHandler === NO_MESSAGE || this.runtime.delivery.sender !== cell) {
      throw new MisuseError(`${cell.path}: stash: only while a message is handled, before any await`);
    }
    const message = this.put(cell, invoker.currentHandler, invoker.currentPayload);
    this.latest = { cell, message };
    invoker.stashed = true;
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
