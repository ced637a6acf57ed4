import { MisuseError } from '../errors.js';
import { MessageQueue, NO_QUEUE } from '../mailbox/queue.js';
import { NO_RIDE } from '../ready/coordinator.js';
import type { ActorCell } from './cell.js';
import type { Runtime } from './runtime.js';

export const STASH_MAX_DEFAULT = 1_000;

/** Messages put aside, oldest first. */
export type Stash = { readonly handler: number; readonly payload: unknown }[];

/** Sets messages aside and puts them back. What is stashed is not lost: a restart puts it back, a stop buries it. */
export class Stashes {
  /** Messages set aside in all actors together. */
  held = 0;
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** The message that is being handled: only known for actors that declare a `stashMax`. */
  stash(cell: ActorCell): void {
    const { invoker } = this.runtime;
    if (cell.kind.spec.stashMax === undefined)
      throw new MisuseError(`${cell.path}: stash: the definition needs a stashMax`);
    if (invoker.currentHandler === NO_RIDE || this.runtime.delivery.sender !== cell) {
      throw new MisuseError(`${cell.path}: stash: only while a message is handled, before any await`);
    }
    this.put(cell, invoker.currentHandler, invoker.currentPayload);
    invoker.stashed = true;
  }

  put(cell: ActorCell, handler: number, payload: unknown): void {
    const extras = cell.needExtras();
    extras.stash ??= [];
    const max = cell.kind.spec.stashMax ?? STASH_MAX_DEFAULT;
    if (extras.stash.length >= max) {
      throw new MisuseError(`${cell.path}: stash: ${max} messages are set aside already (stashMax)`);
    }
    extras.stash.push({ handler, payload });
    this.held += 1;
    this.runtime.invoker.discount();
  }

  unstash(cell: ActorCell): void {
    const stash = cell.extras?.stash;
    if (stash === undefined || stash.length === 0) return;
    if (cell.queue === NO_QUEUE) cell.queue = new MessageQueue();
    this.held -= stash.length;
    this.runtime.ready.queued += stash.length;
    for (const { handler, payload } of stash.splice(0).reverse()) cell.queue.unshift(handler, payload);
    this.runtime.ready.registerReady(cell);
  }

  bury(cell: ActorCell): void {
    const stash = cell.extras?.stash?.splice(0) ?? [];
    this.held -= stash.length;
    for (const { handler, payload } of stash) {
      this.runtime.deadLetters.undelivered(cell, handler, payload, 'left-over');
    }
  }
}
