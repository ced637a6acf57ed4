import { messageOf } from './bounded-error.js';
import { keepClassNames } from './class-names.js';
import { describe } from './describe-value.js';

/**
 * Every error of this package: match on `code`, never on the text. Each code has its entry in docs/errors.md.
 */
export abstract class TroupeError extends Error {
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** An option has a value it cannot have. */
export class OptionError extends TroupeError {
  readonly code = 'ERR_OPTION';
  readonly option: string;
  readonly value: unknown;

  constructor(option: string, value: unknown, needed: string) {
    super(`${option}: ${needed}, got ${describe(value)}`);
    this.option = option;
    this.value = value;
  }
}

/** Something was started in a system that is stopping or has stopped. */
export class SystemStoppedError extends TroupeError {
  readonly code = 'ERR_SYSTEM_STOPPED';
  constructor(system: string, what: string) {
    super(`system ${system} is stopping or stopped: ${what} is no longer possible`);
  }
}

/** Two living siblings cannot have the same name. */
export class NameTakenError extends TroupeError {
  readonly code = 'ERR_NAME_TAKEN';
  readonly path: string;
  constructor(path: string) {
    super(`${path}: a living actor has this name already; stop it first or choose another name`);
    this.path = path;
  }
}

/** A name was found, but its actor has another definition. */
export class LookupError extends TroupeError {
  readonly code = 'ERR_LOOKUP';
  readonly path: string;
  constructor(path: string, wanted: string, found: string) {
    super(`${path}: is a ${found}, not a ${wanted}`);
    this.path = path;
  }
}

/** An actor was used through a context that its restart or stop has ended. */
export class StaleContextError extends TroupeError {
  readonly code = 'ERR_STALE_CONTEXT';
  readonly path: string;
  constructor(path: string, what: string) {
    super(`${path}: ${what} was refused: this context ended when the actor was restarted or stopped`);
    this.path = path;
  }
}

/** No reply came before the deadline. The text says what the target was doing. */
export class AskTimeoutError extends TroupeError {
  readonly code = 'ERR_ASK_TIMEOUT';
  readonly target: string;
  readonly question: string;
  readonly waitedMs: number;
  readonly targetState: string;
  constructor(target: string, message: string, waitedMs: number, targetState: string) {
    super(`${target}.${message}: no reply within ${Math.round(waitedMs)} ms; the target is ${targetState}`);
    this.target = target;
    this.question = message;
    this.waitedMs = waitedMs;
    this.targetState = targetState;
  }
}

/** There was no room before the deadline of a send. The text says what the target was doing. */
export class SendTimeoutError extends TroupeError {
  readonly code = 'ERR_SEND_TIMEOUT';
  readonly target: string;
  readonly waitedMs: number;
  readonly targetState: string;
  constructor(target: string, message: string, waitedMs: number, targetState: string) {
    super(`${target}.${message}: no room within ${Math.round(waitedMs)} ms; the target is ${targetState}`);
    this.target = target;
    this.waitedMs = waitedMs;
    this.targetState = targetState;
  }
}

/** The reason of a signal: the work is not wanted any more, or its actor ends. */
export class AbortedError extends TroupeError {
  readonly code = 'ERR_ABORTED';
  readonly path: string;
  constructor(path: string, why: string) {
    super(`${path}: aborted: ${why}`);
    this.path = path;
  }
}

/** The ask would have waited for an actor that itself waits for the asker. */
export class AskCycleError extends TroupeError {
  readonly code = 'ERR_ASK_CYCLE';
  readonly cycle: readonly string[];
  constructor(cycle: readonly string[]) {
    super(
      `ask refused, it would wait for itself: ${cycle.join(' → ')}; use tell, or let the last one reply later`,
    );
    this.cycle = cycle;
  }
}

export class SendCycleError extends TroupeError {
  readonly code = 'ERR_SEND_CYCLE';
  readonly cycle: readonly string[];
  constructor(cycle: readonly string[]) {
    super(
      `send refused, it would wait for itself: ${cycle.join(' → ')}; use offer or tell for one of the steps`,
    );
    this.cycle = cycle;
  }
}

/** The question reached no handler; `reason` is that of its dead letter. */
export class UndeliveredError extends TroupeError {
  readonly code = 'ERR_UNDELIVERED';
  readonly target: string;
  readonly reason: string;
  constructor(target: string, message: string, reason: string) {
    super(`${target}.${message}: not delivered, ${reason}`);
    this.target = target;
    this.reason = reason;
  }
}

/** The handler that was asked threw; `cause` is what it threw. */
export class ActorFailedError extends TroupeError {
  readonly code = 'ERR_ACTOR_FAILED';
  readonly target: string;
  constructor(target: string, message: string, cause: Error) {
    super(`${target}.${message}: the handler failed: ${messageOf(cause)}`, { cause });
    this.target = target;
  }
}

/** User code threw something that is not an Error. `thrown` describes it in at most 200 characters. */
export class ThrownValueError extends TroupeError {
  readonly code = 'ERR_THROWN_VALUE';
  readonly thrown: string;
  constructor(value: unknown) {
    const thrown = describe(value);
    super(`threw ${thrown}, which is not an Error`);
    this.thrown = thrown;
  }
}

/** An asynchronous handler did not settle within the time a middleware gave it. */
export class HandlerTimeoutError extends TroupeError {
  readonly code = 'ERR_HANDLER_TIMEOUT';
  readonly path: string;
  constructor(path: string, message: string, withinMs: number, cause?: Error) {
    const text = `${path}.${message}: did not settle within ${withinMs} ms and was aborted`;
    super(text, cause === undefined ? {} : { cause });
    this.path = path;
  }
}

/** A middleware threw. It counts as a failure of the actor it ran for, never of the sender. */
export class MiddlewareError extends TroupeError {
  readonly code = 'ERR_MIDDLEWARE';
  readonly middleware: string;
  constructor(middleware: string, hook: string, cause: Error) {
    super(`middleware ${middleware}.${hook} threw: ${messageOf(cause)}`, { cause });
    this.middleware = middleware;
  }
}

/** A child could not be saved within its limits, so its parent failed with it. */
export class EscalatedError extends TroupeError {
  readonly code = 'ERR_ESCALATED';
  readonly child: string;
  constructor(child: string, why: string, cause: Error) {
    super(`${child}: ${why}: ${messageOf(cause)}`, { cause });
    this.child = child;
  }
}

/** A permanent child ended without having failed; it is started again. */
export class ChildEndedError extends TroupeError {
  readonly code = 'ERR_CHILD_ENDED';
  readonly child: string;
  readonly reason: string;
  constructor(child: string, reason: string) {
    super(`${child}: ended (${reason}), but is permanent`);
    this.child = child;
    this.reason = reason;
  }
}

/** A router had no routee for the message. */
export class NoRouteeError extends TroupeError {
  readonly code = 'ERR_NO_ROUTEE';
  readonly router: string;
  constructor(router: string, message: string, why: string, cause?: Error) {
    super(`${router}.${message}: no routee: ${why}`, cause === undefined ? {} : { cause });
    this.router = router;
  }
}

/** A supervision tree that could not be started as it is written. */
export class TreeError extends TroupeError {
  readonly code = 'ERR_TREE';
  readonly path: string;
  constructor(path: string, problem: string) {
    super(`tree ${path}: ${problem}`);
    this.path = path;
  }
}

/** The call makes no sense for this actor, such as watching itself. */
export class MisuseError extends TroupeError {
  readonly code = 'ERR_MISUSE';
}

keepClassNames({
  ActorFailedError,
  AskCycleError,
  AskTimeoutError,
  ChildEndedError,
  EscalatedError,
  HandlerTimeoutError,
  LookupError,
  MiddlewareError,
  MisuseError,
  NameTakenError,
  NoRouteeError,
  OptionError,
  SendCycleError,
  StaleContextError,
  SystemStoppedError,
  ThrownValueError,
  TreeError,
  TroupeError,
  UndeliveredError,
});
