import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition, MailboxOptions } from '../define/actor-definition.js';
import { defineActor } from '../define/define-actor.js';
import { poolRouterClassOf } from './pool-router.js';
import type { PoolState } from './pool-state.js';
import type { WorkQueue } from './work-queue.js';

/** The pool has a time limit of its own. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * One per routee's definition and mailbox: one per pool would be compiled again, with its refs, for every
 * pool.
 */
const supervisors = new WeakMap<AnyDefinition, Map<string, AnyDefinition>>();

/**
 * The actor that supervises the routees of a pool. With a mailbox it is that of a pull pool, in which work
 * waits.
 */
export function poolSupervisorOf(
  definition: AnyDefinition,
  mailbox: MailboxOptions | undefined,
): AnyDefinition {
  const key = mailbox === undefined ? 'push' : keyOf(mailbox);
  const known = supervisors.get(definition) ?? new Map<string, AnyDefinition>();
  supervisors.set(definition, known);
  const supervisor = known.get(key) ?? definePoolSupervisor(definition, mailbox);
  known.set(key, supervisor);
  return supervisor;
}

function keyOf({ capacity, overflow, levels }: MailboxOptions): string {
  return JSON.stringify([capacity, overflow, Object.entries(levels ?? {}).sort()]);
}

/**
 * The routees are started with it, and again when it is restarted, under the same refs. Its own ref is the
 * router.
 */
function definePoolSupervisor(definition: AnyDefinition, mailbox: MailboxOptions | undefined): AnyDefinition {
  const supervisor = defineActor(mailbox === undefined ? 'pool' : `pool of ${definition.name}`, {
    state: (pool: PoolState) => pool,
    handlers: mailbox === undefined ? {} : pullHandlersOf(definition),
    mailbox,
    started: (ctx) => ctx.state.fill(ctx as unknown as ActorCell),
    stopping: (ctx) => ctx.state.finish(ctx as unknown as ActorCell),
    stopWithinMs: NO_LIMIT_MS,
  });
  return { ...supervisor, '~refClass': poolRouterClassOf(definition), '~routees': definition };
}

/** Work is sent to the supervisor itself, under the routee's own message names, and waits in its mailbox. */
function pullHandlersOf(definition: AnyDefinition) {
  const workOf = (cell: ActorCell): WorkQueue => (cell.state as PoolState).work as WorkQueue;
  return Object.fromEntries(
    definition['~handlerNames'].map((name, handler) => [
      name,
      (ctx: unknown, payload?: unknown) => workOf(ctx as ActorCell).take(ctx as ActorCell, handler, payload),
    ]),
  );
}
