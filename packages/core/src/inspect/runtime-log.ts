import type { ActorCell } from '../actor/actor-cell.js';
import type { Logger } from '../define/actor-context.js';
import type { Directive } from '../define/supervision-policy.js';
import { boundedError, messageOf } from '../errors/bounded-error.js';
import { toError } from '../errors/thrown-value.js';
import type { EventStream } from '../event-stream.js';
import type { Host, LogLevel } from '../host.js';
import { describeActivity } from './describe-activity.js';

const STUCK_SENDERS_MAX = 10;

/** The decision about a failure, as it is logged. */
export interface LoggedDecision {
  readonly directive: Directive | 'ignored';
  readonly why: string;
  /** Restarts within the window, this one included, of at most `attemptsMax`; 0 of 0 where none counts. */
  readonly attempt: number;
  readonly attemptsMax: number;
}

/** A failure as it is logged. */
export interface LoggedFailure {
  readonly child: ActorCell;
  readonly message: string;
  readonly error: Error;
  /** The sends before it on another thread, on which the actor runs. */
  readonly messagesThere?: readonly string[] | undefined;
}

/** Log lines and failure events of the runtime. */
export class RuntimeLog {
  /** Lines that the host's log threw on. */
  logsLost = 0;
  private readonly host: Host;
  private readonly events: EventStream;
  readonly messageHistoryOf: (slot: number) => readonly string[];

  constructor(host: Host, events: EventStream, messageHistoryOf: (slot: number) => readonly string[]) {
    this.host = host;
    this.events = events;
    this.messageHistoryOf = messageHistoryOf;
  }

  /** A log that throws must not fail the actor that logs. */
  write(level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>): void {
    try {
      this.host.log({ level, message, fields });
    } catch {
      this.logsLost += 1;
    }
  }

  /** The fields of the line are the event. The message history is looked up on first read: that is slow. */
  logFailure(failed: LoggedFailure, decision: LoggedDecision): void {
    const { message, error: failure, messagesThere = [] } = failed;
    const { path, slot } = failed.child;
    const { directive, why, attempt, attemptsMax } = decision;
    const isCounted = directive === 'restart' && attemptsMax > 0;
    const reason = isCounted ? `, attempt ${attempt} of ${attemptsMax}` : `: ${why}`;
    const messageHistory = lazy(() => [...this.messageHistoryOf(slot), ...messagesThere]);
    const { hasListeners } = this.events;
    const event = {
      kind: 'failed' as const,
      path,
      message,
      error: boundedError(failure, hasListeners ? {} : { stack: 'unread' }),
      directive,
      why,
      attempt,
      attemptsMax,
      get messageHistory() {
        return messageHistory();
      },
    };
    this.write('error', `${path}.${message} failed: ${messageOf(failure)} → ${directive}${reason}`, event);
    if (hasListeners) this.events.publish(event);
  }

  /** A failure without consequences. */
  logIgnoredFailure(cell: ActorCell, message: string, failure: Error, why: string): void {
    const failed = { child: cell, message, error: failure };
    this.logFailure(failed, { directive: 'ignored', why, attempt: 0, attemptsMax: 0 });
  }

  /** `rejection`: the error of a handler whose result is no longer wanted. */
  reportStaleContext(
    { path }: { readonly path: string },
    what: string,
    rejection?: { readonly thrown: unknown },
  ): void {
    const text = `${path}: ${what} was refused: the context is from before a restart or stop`;
    if (rejection === undefined) this.write('warn', text, { path, what });
    else this.logLateError(text, { path, what }, rejection.thrown);
    if (this.events.hasListeners) this.events.publish({ kind: 'stale-context', path, what });
  }

  /** A receiver has handled no message for `ms` while it muted these senders. */
  reportStuck(receiver: ActorCell, senders: readonly ActorCell[], ms: number): void {
    const { path } = receiver;
    const paths = senders.slice(0, STUCK_SENDERS_MAX).map((sender) => sender.path);
    const more = senders.length > paths.length ? ` and ${senders.length - paths.length} more` : '';
    const activity = describeActivity(receiver, this.host.now());
    const text =
      `${path} has handled no message for ${ms} ms (${activity}) while it muted ${paths.join(', ')}${more}: ` +
      'they run again, and messages beyond 64 times its capacity become dead letters';
    this.write('warn', text, { path, senders: paths, ms });
    if (this.events.hasListeners) this.events.publish({ kind: 'stuck', path, senders: paths, ms });
  }

  /** An error that comes too late to be a failure is logged. */
  logLateError(text: string, fields: Readonly<Record<string, unknown>>, thrown: unknown): void {
    const error = boundedError(toError(thrown));
    this.write('warn', `${text}; it had failed: ${messageOf(error)}`, { ...fields, error });
  }

  loggerFor(cell: ActorCell): Logger {
    const line = (level: LogLevel) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
      const path = cell.path;
      this.write(level, `${path}: ${message}`, { path, ...fields });
    };
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
