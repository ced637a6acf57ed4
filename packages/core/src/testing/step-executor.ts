import type { ActorCell } from '../actor/actor-cell.js';
import { AttachedExecutor, type Executor } from '../executor/executor.js';
import type { Host } from '../host.js';
import { lastMessagesOf } from '../inspect/message-history.js';

/** Virtual time that a turn may take before the next turns of its type become shorter, as in production. */
const SLICE_MS = 1;

/**
 * Runs one ready actor per step. With a seed it chooses among the ready ones by chance: every order it
 * takes is one that production could take, and the same seed takes the same order again.
 */
export class StepExecutor extends AttachedExecutor<ActorCell> implements Executor<ActorCell> {
  coarseNow: number;
  private readonly host: Host;
  private readonly choose: (() => number) | undefined;
  private readonly onReady: (() => void) | undefined;

  /** `onReady` is called whenever an actor becomes ready. */
  constructor(host: Host, choose: (() => number) | undefined, onReady?: () => void) {
    super();
    this.host = host;
    this.choose = choose;
    this.onReady = onReady;
    this.coarseNow = host.now();
  }

  now(): number {
    this.coarseNow = this.host.now();
    return this.coarseNow;
  }

  /** Nothing runs before the next step. */
  wake(): void {
    this.coarseNow = this.host.now();
    this.onReady?.();
  }

  resume(mailbox: ActorCell): void {
    this.ready.registerReady(mailbox);
  }

  stop(): void {
    this.onTurnEnd();
  }

  get readyCount(): number {
    return this.ready.depth;
  }

  /** The actors that have not ended, guardian first. */
  get actors(): readonly ActorCell[] {
    return this.ready.slots.mailboxes.filter((cell) => cell?.isTerminated === false) as ActorCell[];
  }

  /** Turns so far. */
  get turns(): number {
    return this.ready.taken;
  }

  /** The messages in mailboxes. */
  get waitingPayloads(): readonly unknown[] {
    const payloads = this.ready.inlinePayloads;
    for (const { queue } of this.actors)
      queue.findIndex((payload) => {
        payloads.push(payload);
        return false;
      });
    return payloads;
  }

  /** The messages in mailboxes and stashes, and the asks being handled. */
  get payloads(): readonly unknown[] {
    const others = this.actors.flatMap(({ cold }) => [
      cold?.awaiting?.envelope,
      ...(cold?.stash ?? []).map(({ payload }) => payload),
    ]);
    return [...this.waitingPayloads, ...others];
  }

  /** The last messages in the system, oldest first. */
  lastMessages(most: number): readonly string[] {
    const { recorder } = (this.actors[0] as ActorCell).type.runtime;
    return lastMessagesOf(recorder, this.ready, most);
  }

  /** One turn of one ready actor; false when no actor was ready. */
  step(): boolean {
    const { ready, invoker } = this;
    if (ready.isEmpty()) return false;
    if (this.choose !== undefined) ready.promote(Math.floor(this.choose() * ready.depth));
    const startedAt = this.now();
    const left = invoker.serve(1);
    const ms = this.now() - startedAt;
    invoker.adjustTurnMax(ms, SLICE_MS);
    const { lastRun } = invoker;
    if (lastRun !== undefined) this.observer?.onClockRead({ mailbox: lastRun, turns: 1, handled: -left, ms });
    return true;
  }
}
