import type { ActorCell } from '../actor/actor-cell.js';
import { Envelope } from '../message/envelope.js';
import { UnsettledWorldError } from './testing-errors.js';

/** A test system that code has to run. */
export interface UnsettledWorld {
  readonly readyCount: number;
  /** Turns so far. */
  readonly turns: number;
  /** Messages that wait to be handled. */
  readonly waitingPayloads: readonly unknown[];
  /** Messages that wait, and the asks being handled. */
  readonly payloads: readonly unknown[];
}

const LOOK_EVERY_MS = 100;
const IDLE_LOOKS_MAX = 10;

/**
 * Worlds that have not been disposed. A test that awaits an ask which no turn will ever handle would end
 * without a word: with exit code 13, as cancelled by `node:test`, at the time limit of vitest. Such an ask is
 * rejected with an error that says what to write:
 * - after a second in which no turn was run although an actor is ready. The timer keeps the process alive:
 *   the runner must not see an event loop without work before the error. Several looks, so that a test that
 *   blocks the thread is not mistaken for one that waits.
 * - when Node has nothing left to do; asks that are being handled too, since only time could go on.
 */
class UnsettledWorlds {
  private readonly worlds = new Map<UnsettledWorld, { turns: number; idleLooks: number }>();
  private timer: NodeJS.Timeout | undefined = undefined;

  add(world: UnsettledWorld): void {
    if (this.worlds.size === 0) process.on('beforeExit', this.atExit);
    this.worlds.set(world, { turns: 0, idleLooks: 0 });
  }

  delete(world: UnsettledWorld): void {
    this.worlds.delete(world);
    if (this.worlds.size === 0) process.off('beforeExit', this.atExit);
    this.endIfSettled();
  }

  /** An actor of some world is ready. */
  begin(): void {
    this.timer ??= setTimeout(this.look, LOOK_EVERY_MS);
  }

  /** A world has no ready actors any more. */
  endIfSettled(): void {
    if (this.timer === undefined) return;
    for (const world of this.worlds.keys()) if (world.readyCount > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private readonly look = (): void => {
    this.timer = undefined;
    let isAnyWatched = false;
    for (const [world, seen] of this.worlds) {
      const isIdle = world.readyCount > 0 && world.turns === seen.turns;
      seen.idleLooks = isIdle ? seen.idleLooks + 1 : 0;
      seen.turns = world.turns;
      if (seen.idleLooks === IDLE_LOOKS_MAX) world.waitingPayloads.forEach(rejectAskFromOutside);
      if (world.readyCount > 0 && seen.idleLooks < IDLE_LOOKS_MAX) isAnyWatched = true;
    }
    if (isAnyWatched) this.begin();
  };

  private readonly atExit = (): void => {
    for (const { payloads } of this.worlds.keys()) payloads.forEach(rejectAskFromOutside);
  };
}

export const unsettledWorlds = new UnsettledWorlds();

function rejectAskFromOutside(payload: unknown): void {
  if (!(payload instanceof Envelope) || payload.sender !== undefined || !payload.isOpen) return;
  const target = payload.target as ActorCell;
  const message = target.type.definition['~handlerNames'][payload.handler] as string;
  target.type.runtime.asks.refuse(payload, new UnsettledWorldError(target.path, message));
}
