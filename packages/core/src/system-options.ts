import { actorName } from './actor-name-rule.js';
import { type SupervisionPolicy, supervisionPolicy } from './define/supervision-policy.js';
import type { SystemExecutor } from './executor/executor.js';
import type { Host } from './host.js';
import type { WarnLimits } from './inspect/slow-actor-warnings.js';
import { checkedMiddleware } from './middleware/check-middleware.js';
import type { Middleware } from './middleware/middleware.js';
import {
  anything,
  callback,
  checkOption,
  checkOptions,
  flag,
  number,
  options,
  rule,
  wholeNumber,
} from './option-check.js';
import type { SystemThreads } from './remote/threads.js';

export interface SystemOptions {
  /** The name in log lines and reports; a legal name of an actor. Default `troupe`. */
  readonly name?: string | undefined;
  /** Clock, chance, event loop and log. Default: this Node process. */
  readonly host?: Host | undefined;
  /** Policy for the actors that the system itself spawns. */
  readonly supervise?: SupervisionPolicy | undefined;
  /** For every actor of the system. */
  readonly middleware?: readonly Middleware[] | undefined;
  /** Messages waiting in all mailboxes together; a message beyond it becomes a dead letter. Default 2²³. */
  readonly queuedMax?: number | undefined;
  /**
   * An actor that mutes senders and has handled no message for this long releases them. Default 30,000.
   */
  readonly stuckAfterMs?: number | undefined;
  /** The deadline of an ask that names none. Default 5,000. */
  readonly askWithinMs?: number | undefined;
  readonly slice?:
    | {
        /** How long the runtime may hold the event loop while other code is busy. Default 0.2. */
        readonly msMin: number;
        /** The same while the event loop has nothing else to do. Default 1. */
        readonly msMax: number;
      }
    | undefined;
  /** Remembers the last sends, for the message history in failure reports. Default true. */
  readonly recorder?: boolean | undefined;
  /** When to warn of long turns and long queues; `false` never does. */
  readonly warn?: Partial<WarnLimits> | false | undefined;
  /** How the ready actors are run. Default: the pump. Tests use a stepping one. */
  readonly executor?: ((host: Host) => SystemExecutor) | undefined;
  /** More threads, for actors that are spawned with `on`: `threads()` of `@troupe/threads`. */
  readonly threads?: SystemThreads | undefined;
}

/** The options with their defaults. */
export interface SystemSettings {
  readonly name: string;
  readonly supervise: SupervisionPolicy;
  readonly middleware: readonly Middleware[];
  readonly queuedMax: number;
  readonly stuckAfterMs: number;
  readonly askWithinMs: number;
  readonly slice: { readonly msMin: number; readonly msMax: number };
  readonly recorder: boolean;
  readonly warn: WarnLimits | undefined;
  readonly threads: SystemThreads | undefined;
}

const SYSTEM_RULES = {
  name: actorName,
  host: anything,
  supervise: supervisionPolicy,
  middleware: anything,
  queuedMax: anything,
  stuckAfterMs: anything,
  askWithinMs: anything,
  slice: anything,
  recorder: flag,
  warn: anything,
  executor: callback,
  threads: rule('threads() of @troupe/threads', isSystemThreads),
};

function isSystemThreads(value: unknown): boolean {
  return typeof (value as Partial<SystemThreads> | null)?.open === 'function';
}

const TURN_MS_DEFAULT = 100;
const QUEUE_MS_DEFAULT = 5_000;

export function settingsOf(given: SystemOptions): SystemSettings {
  checkOptions('createSystem', given, SYSTEM_RULES);
  return {
    name: given.name ?? 'troupe',
    supervise: given.supervise ?? {},
    middleware: checkedMiddleware(given.middleware ?? []),
    queuedMax: checkOption('queuedMax', given.queuedMax ?? 2 ** 23, wholeNumber(1)),
    stuckAfterMs: checkOption('stuckAfterMs', given.stuckAfterMs ?? 30_000, number(1)),
    askWithinMs: checkOption('askWithinMs', given.askWithinMs ?? 5_000, number(1)),
    slice: sliceOf(given.slice ?? { msMin: 0.2, msMax: 1 }),
    recorder: given.recorder ?? true,
    warn: warnLimitsOf(given.warn ?? {}),
    threads: given.threads,
  };
}

function sliceOf(slice: SystemSettings['slice']): SystemSettings['slice'] {
  checkOptions(
    'slice',
    slice,
    { msMin: number(0.01), msMax: number(0.01) },
    { required: ['msMin', 'msMax'] },
  );
  checkOption('slice.msMax', slice.msMax, number(slice.msMin));
  return slice;
}

function warnLimitsOf(warn: Partial<WarnLimits> | false): WarnLimits | undefined {
  if (warn === false) return undefined;
  checkOption('warn', warn, options({ turnMs: number(1), queueMs: number(1) }));
  return { turnMs: warn.turnMs ?? TURN_MS_DEFAULT, queueMs: warn.queueMs ?? QUEUE_MS_DEFAULT };
}

const TIME_LIMIT_RULES = {
  withinMs: rule('a number of at least 0', (value) => typeof value === 'number' && value >= 0),
};

/** `stop`, `drain` and `shutdown` take nothing but a time. */
export function checkTimeLimit(what: string, given: { readonly withinMs?: number | undefined }): void {
  checkOptions(what, given, TIME_LIMIT_RULES);
}
