import type { ActorCell } from '../actor/actor-cell.js';
import { Envelope } from '../message/envelope.js';
import { UnsettledWorldError } from './testing-errors.js';

/** A test system that no code runs. */
export interface UnsettledWorld {
  /** All messages that wait to be handled, and those being handled. */
  readonly payloads: readonly unknown[];
}

/**
 * Worlds that have not been disposed. Node ends a process that has nothing to do, also where a test awaits an
 * ask that no turn will ever handle: without a word, with exit code 13. Before it does, such asks are
 * rejected with an error that says what to write.
 */
class UnsettledWorlds {
  private readonly worlds = new Set<UnsettledWorld>();

  add(world: UnsettledWorld): void {
    if (this.worlds.size === 0) process.on('beforeExit', this.rejectAsks);
    this.worlds.add(world);
  }

  delete(world: UnsettledWorld): void {
    this.worlds.delete(world);
    if (this.worlds.size === 0) process.off('beforeExit', this.rejectAsks);
  }

  private readonly rejectAsks = (): void => {
    for (const { payloads } of this.worlds) for (const payload of payloads) rejectAskFromOutside(payload);
  };
}

export const unsettledWorlds = new UnsettledWorlds();

function rejectAskFromOutside(payload: unknown): void {
  if (!(payload instanceof Envelope) || payload.sender !== undefined || !payload.isOpen) return;
  const target = payload.target as ActorCell;
  const message = target.type.definition['~handlerNames'][payload.handler] as string;
  target.type.runtime.asks.refuse(payload, new UnsettledWorldError(target.path, message));
}
