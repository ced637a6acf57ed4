import { defineActor } from '../define/define-actor.js';
import type { SupervisionPolicy } from '../define/supervision-policy.js';
import type { DeadLetter } from '../message/dead-letter.js';
import type { SuspendReason } from '../message/suspend-reason.js';
import type { Middleware, Outcome } from '../middleware/middleware.js';
import { anything, callback, checkOptions, wholeNumber } from '../option-check.js';
import type { ActorRef } from '../ref/actor-ref.js';
import type { RuntimeEvent } from '../runtime-event.js';
import { createTestSystem, type TestSystem } from './test-system.js';

/** Handles the one message of the actor in a rig; its result is the reply. */
export type RigHandler = (payload: unknown, abort: AbortSignal) => unknown;

const Rigged = defineActor('rigged', {
  state: (args: { readonly handle: RigHandler }) => args,
  handlers: { work: (ctx, payload: unknown) => ctx.state.handle(payload, ctx.signal) },
  retryable: ['work'],
});

export interface MiddlewareRigOptions {
  /** The handler. Default: returns its payload. */
  readonly handle?: RigHandler | undefined;
  /** The policy for the actor of the rig. */
  readonly supervise?: SupervisionPolicy | undefined;
  /** Of its world. Default: none. */
  readonly seed?: number | undefined;
}

/**
 * One actor with one retryable message, `work`, behind the middleware under test: the production runtime in
 * virtual time. Everything that the middleware does to the messages is recorded.
 */
export interface MiddlewareRig extends TestSystem {
  /** The actor behind the middleware. */
  readonly ref: ActorRef<typeof Rigged>;
  /** Payloads that reached the handler, in order; one that is run again is here again. */
  readonly ran: readonly unknown[];
  /** The outcome of each message, as a middleware in front of the one under test sees it. */
  readonly outcomes: readonly Outcome[];
  /** Messages that no handler got. */
  readonly deadLetters: readonly DeadLetter[];
  /** Suspensions that the middleware has begun, with their times. */
  readonly suspensions: readonly { readonly reason: SuspendReason; readonly at: number }[];
  /** Failures of the actor. */
  readonly failures: readonly Error[];
  /** One more actor behind the same middleware. */
  spawn(name: string): ActorRef<typeof Rigged>;
}

/** A rig around the middleware under test. */
export function createMiddlewareRig(
  middleware: Middleware | readonly Middleware[],
  options: MiddlewareRigOptions = {},
): MiddlewareRig {
  checkOptions('createMiddlewareRig', options, {
    handle: callback,
    supervise: anything,
    seed: wholeNumber(0),
  });
  const ran: unknown[] = [];
  const outcomes: Outcome[] = [];
  const deadLetters: DeadLetter[] = [];
  const suspensions: { reason: SuspendReason; at: number }[] = [];
  const failures: Error[] = [];
  const front: Middleware = {
    name: 'rig',
    afterMessage(_message, outcome) {
      outcomes.push(outcome);
      return undefined;
    },
  };
  const test = createTestSystem({
    name: 'rig',
    supervise: options.supervise ?? { restarts: 1_000_000, restartsTotal: 1_000_000 },
    middleware: [front, ...(Array.isArray(middleware) ? middleware : [middleware as Middleware])],
    seed: options.seed,
  });
  test.system.subscribe((event: RuntimeEvent) => {
    if (event.kind === 'dead-letter') deadLetters.push(event.letter);
    if (event.kind === 'suspended') suspensions.push({ reason: event.reason, at: test.host.now() });
    if (event.kind === 'failed') failures.push(event.error);
  });
  const handle: RigHandler = (payload, abort) => {
    ran.push(payload);
    return options.handle === undefined ? payload : options.handle(payload, abort);
  };
  const spawn = (name: string): ActorRef<typeof Rigged> =>
    test.system.spawn(Rigged, { args: { handle }, name });
  const rig = { ref: spawn('rigged'), ran, outcomes, deadLetters, suspensions, failures, spawn };
  return Object.assign(test, rig);
}
