import { TroupeError } from '@troupe/core';
import { keepClassNames } from '@troupe/core/class-names';

/** A thread could not be started, or ended before it was up. */
export class ThreadStartError extends TroupeError {
  readonly code = 'ERR_THREAD_START';
  readonly thread: string;
  constructor(thread: string, cause: unknown) {
    super(`thread ${thread} could not be started: ${textOf(cause)}`, { cause });
    this.thread = thread;
  }
}

/** A thread ended during its work: `process.exit`, an error outside of every call, or a termination. */
export class ThreadEndedError extends TroupeError {
  readonly code = 'ERR_THREAD_ENDED';
  readonly thread: string;
  readonly exitCode: number;
  constructor(thread: string, exitCode: number, cause?: unknown) {
    const why = cause === undefined ? `exit code ${exitCode}` : textOf(cause);
    super(`thread ${thread} ended during its work: ${why}`, cause === undefined ? undefined : { cause });
    this.thread = thread;
    this.exitCode = exitCode;
  }
}

/** A thread reached the memory limit of its heap. The process and its other threads go on. */
export class ThreadMemoryError extends TroupeError {
  readonly code = 'ERR_THREAD_MEMORY';
  readonly thread: string;
  constructor(thread: string, cause: unknown) {
    super(`thread ${thread} ran out of memory; raise resourceLimits or give it less work at once`, { cause });
    this.thread = thread;
  }
}

/** A thread was in one message for longer than it may, and was ended. */
export class ThreadBlockedError extends TroupeError {
  readonly code = 'ERR_THREAD_BLOCKED';
  readonly thread: string;
  /** The actor and the message that it was in; undefined where it was in neither. */
  readonly path: string | undefined;
  readonly handler: string | undefined;
  readonly limitMs: number;
  constructor(
    thread: string,
    begun: { readonly path: string; readonly message: string } | undefined,
    limitMs: number,
  ) {
    const where = begun === undefined ? 'code outside of messages' : `${begun.path}.${begun.message}`;
    super(`thread ${thread} was in ${where} for more than ${limitMs} ms and was ended`);
    this.thread = thread;
    this.path = begun?.path;
    this.handler = begun?.message;
    this.limitMs = limitMs;
  }
}

/** A value holds something that no thread can receive; `path` is its first field of that kind. */
export class NotCloneableError extends TroupeError {
  readonly code = 'ERR_NOT_CLONEABLE';
  readonly path: string;
  constructor(path: string, cause: unknown) {
    super(`${path} cannot be passed to another thread: ${textOf(cause)}`, { cause });
    this.path = path;
  }
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** A thread does not find the definition of an actor that is to run on it. */
export class ThreadDefinitionError extends TroupeError {
  readonly code = 'ERR_THREAD_DEFINITION';
  readonly actor: string;
  readonly module: string | undefined;
  constructor(actor: string, module: string | undefined, why: string, cause?: unknown) {
    super(
      `${actor} (${module ?? 'no module is known'}): ${why}`,
      cause === undefined ? undefined : { cause },
    );
    this.actor = actor;
    this.module = module;
  }
}

keepClassNames({
  NotCloneableError,
  ThreadBlockedError,
  ThreadDefinitionError,
  ThreadEndedError,
  ThreadMemoryError,
  ThreadStartError,
});
