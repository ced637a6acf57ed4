import type { ActorCell } from './actor/cell.js';
import type { LooseSpec } from './define/definition.js';
import type { SpawnOptions } from './define/spawn-options.js';
import { OptionError } from './errors.js';
import type { Executor } from './executor/executor.js';
import type { Host } from './host.js';
import type { WarnLimits } from './inspect/turn-warnings.js';
import { LEVELS } from './mailbox/levels.js';
import { OVERFLOW_POLICIES } from './mailbox/overflow.js';
import type { Middleware } from './middleware/middleware.js';
import { isLegalName, NAME_RULE } from './name.js';
import { aFunction, anArray, anObject, atLeast, oneOf, onlyKnown, whole } from './option-check.js';
import { RESTART_TYPES, type SupervisionPolicy } from './supervision/policy.js';

export interface SystemOptions {
  readonly name?: string;
  /** Clock, chance, event loop and log. Default: this Node process. */
  readonly host?: Host;
  /** Policy for the actors that the system itself spawns. */
  readonly supervise?: SupervisionPolicy;
  /** For every actor of the system. */
  readonly middleware?: readonly Middleware[];
  /** Messages waiting in all mailboxes together; what exceeds it becomes a dead letter. Default 2²³. */
  readonly queuedMax?: number;
  /** Default deadline of an ask. Default 5,000. */
  readonly askWithinMs?: number;
  /** How long the runtime may hold the event loop. Default 0.2 to 1 ms. */
  readonly slice?: { readonly msMin: number; readonly msMax: number };
  /** Remembers the last sends, for the trail in failure reports. Default on. */
  readonly recorder?: boolean;
  /** When to warn of long turns and long queues; false never does. */
  readonly warn?: Partial<WarnLimits> | false;
  /** How the ready actors are run. Default: the pump. Tests use a stepping one. */
  readonly executor?: (host: Host) => Executor<ActorCell>;
}

/** The options with their defaults. */
export interface SystemSettings {
  readonly name: string;
  readonly supervise: SupervisionPolicy;
  readonly middleware: readonly Middleware[];
  readonly queuedMax: number;
  readonly askWithinMs: number;
  readonly slice: { readonly msMin: number; readonly msMax: number };
  readonly recorder: boolean;
  readonly warn: WarnLimits | undefined;
}

export function settingsOf(options: SystemOptions): SystemSettings {
  onlyKnown('createSystem', options, [
    'name',
    'host',
    'supervise',
    'middleware',
    'queuedMax',
    'askWithinMs',
    'slice',
    'recorder',
    'warn',
    'executor',
  ]);
  if (options.name !== undefined && !isLegalName(options.name))
    throw new OptionError('createSystem.name', options.name, NAME_RULE);
  if (options.recorder !== undefined) oneOf('createSystem.recorder', options.recorder, [true, false]);
  if (options.executor !== undefined) aFunction('createSystem.executor', options.executor);
  const slice = options.slice ?? { msMin: 0.2, msMax: 1 };
  onlyKnown('slice', slice, ['msMin', 'msMax']);
  atLeast('slice.msMin', slice.msMin, 0.01);
  atLeast('slice.msMax', slice.msMax, slice.msMin);
  if (options.supervise !== undefined) checkPolicy(options.supervise);
  return {
    name: options.name ?? 'troupe',
    supervise: options.supervise ?? {},
    middleware: checkMiddleware(options.middleware ?? []),
    queuedMax: whole('queuedMax', options.queuedMax ?? 2 ** 23, 1),
    askWithinMs: atLeast('askWithinMs', options.askWithinMs ?? 5_000, 1),
    slice,
    recorder: options.recorder ?? true,
    warn: warnLimitsOf(options.warn ?? {}),
  };
}

const TURN_MS_DEFAULT = 100;
const QUEUE_MS_DEFAULT = 5_000;

function warnLimitsOf(warn: Partial<WarnLimits> | false): WarnLimits | undefined {
  if (warn === false) return undefined;
  onlyKnown('warn', warn, ['turnMs', 'queueMs']);
  return {
    turnMs: atLeast('warn.turnMs', warn.turnMs ?? TURN_MS_DEFAULT, 1),
    queueMs: atLeast('warn.queueMs', warn.queueMs ?? QUEUE_MS_DEFAULT, 1),
  };
}

const SPEC_FUNCTIONS = [
  'state',
  'started',
  'stopping',
  'stopped',
  'restarting',
  'terminated',
  'idle',
] as const;
const SPEC_KEYS = [
  ...SPEC_FUNCTIONS,
  'handlers',
  'phases',
  'illegal',
  'mailbox',
  'supervise',
  'throughput',
  'stopWithinMs',
  'stashMax',
  'retryable',
  'middleware',
];

/** Refuses a definition that could not work, with the option, the value and what was needed. */
export function checkSpec(name: unknown, spec: LooseSpec): void {
  if (typeof name !== 'string' || name.length === 0)
    throw new OptionError('defineActor name', name, 'needed a name');
  if (typeof spec !== 'object' || spec === null) throw new OptionError(`${name}`, spec, 'needed an object');
  onlyKnown(name, spec, SPEC_KEYS);
  checkHandlers(`${name}.handlers`, spec.handlers);
  if (spec.phases !== undefined) anObject(`${name}.phases`, spec.phases);
  for (const [phase, handlers] of Object.entries(spec.phases ?? {}))
    checkHandlers(`${name}.phases.${phase}`, handlers);
  for (const hook of SPEC_FUNCTIONS) if (spec[hook] !== undefined) aFunction(`${name}.${hook}`, spec[hook]);
  if (spec.mailbox !== undefined)
    onlyKnown(`${name}.mailbox`, spec.mailbox, ['capacity', 'overflow', 'levels']);
  const { capacity, overflow, levels } = spec.mailbox ?? {};
  if (capacity !== undefined) whole(`${name}.mailbox.capacity`, capacity, 1);
  if (overflow !== undefined) oneOf(`${name}.mailbox.overflow`, overflow, OVERFLOW_POLICIES);
  if (levels !== undefined) anObject(`${name}.mailbox.levels`, levels);
  for (const [handler, level] of Object.entries(levels ?? {})) {
    if (!Object.hasOwn(spec.handlers, handler))
      throw new OptionError(`${name}.mailbox.levels.${handler}`, level, 'there is no such handler');
    oneOf(`${name}.mailbox.levels.${handler}`, level, LEVELS);
  }
  if (spec.throughput !== undefined) whole(`${name}.throughput`, spec.throughput, 1);
  if (spec.stopWithinMs !== undefined) atLeast(`${name}.stopWithinMs`, spec.stopWithinMs, 0);
  if (spec.stashMax !== undefined) whole(`${name}.stashMax`, spec.stashMax, 1);
  if (spec.illegal !== undefined) oneOf(`${name}.illegal`, spec.illegal, ['dead-letter', 'stash']);
  if (spec.supervise !== undefined) checkPolicy(spec.supervise);
  if (spec.retryable !== undefined) anArray(`${name}.retryable`, spec.retryable);
  for (const handler of spec.retryable ?? []) {
    if (!Object.hasOwn(spec.handlers, handler))
      throw new OptionError(`${name}.retryable`, handler, 'there is no such handler');
  }
  checkMiddleware(spec.middleware ?? []);
}

export function checkSpawnOptions(options: SpawnOptions): void {
  onlyKnown('spawn', options, ['name', 'restart', 'significant', 'supervise', 'middleware']);
  if (options.restart !== undefined) oneOf('spawn.restart', options.restart, RESTART_TYPES);
  if (options.supervise !== undefined) checkPolicy(options.supervise);
  if (options.significant !== undefined) oneOf('spawn.significant', options.significant, [true, false]);
  if (options.middleware !== undefined) checkMiddleware(options.middleware);
}

/** `stop`, `drain` and `shutdown` take nothing but a time. */
export function checkTimeLimit(what: string, options: { readonly withinMs?: number }): void {
  onlyKnown(what, options, ['withinMs']);
  const { withinMs } = options;
  if (withinMs !== undefined && !(typeof withinMs === 'number' && withinMs >= 0))
    throw new OptionError(`${what}.withinMs`, withinMs, 'needed a number of at least 0');
}

export function checkPolicy(policy: SupervisionPolicy): void {
  onlyKnown('supervise', policy, ['strategy', 'restarts', 'withinMs', 'restartsTotal', 'backoff', 'decide']);
  if (policy.strategy !== undefined)
    oneOf('supervise.strategy', policy.strategy, ['one-for-one', 'one-for-all', 'rest-for-one']);
  if (policy.restarts !== undefined) whole('supervise.restarts', policy.restarts, 0);
  if (policy.withinMs !== undefined) atLeast('supervise.withinMs', policy.withinMs, 1);
  if (policy.restartsTotal !== undefined) whole('supervise.restartsTotal', policy.restartsTotal, 0);
  if (policy.backoff !== undefined) {
    onlyKnown('supervise.backoff', policy.backoff, ['fromMs', 'toMs', 'jitter', 'resetAfterMs']);
    atLeast('supervise.backoff.fromMs', policy.backoff.fromMs, 0);
    atLeast('supervise.backoff.toMs', policy.backoff.toMs, policy.backoff.fromMs);
    const { jitter = 0 } = policy.backoff;
    if (!(jitter >= 0 && jitter <= 1))
      throw new OptionError('supervise.backoff.jitter', jitter, 'needed a number from 0 to 1');
    if (policy.backoff.resetAfterMs !== undefined)
      atLeast('supervise.backoff.resetAfterMs', policy.backoff.resetAfterMs, 0);
  }
  if (policy.decide !== undefined) aFunction('supervise.decide', policy.decide);
}

function checkHandlers(what: string, handlers: unknown): void {
  anObject(what, handlers);
  for (const [name, handler] of Object.entries(handlers)) {
    if (name.startsWith('~'))
      throw new OptionError(`${what}.${name}`, handler, 'needed a name without ~ in front');
    aFunction(`${what}.${name}`, handler);
  }
}

const HOOKS = [
  'beforeTurn',
  'afterTurn',
  'beforeMessage',
  'afterMessage',
  'around',
  'onSend',
  'onLost',
] as const;

/** A copy: what is pushed to the list afterwards changes nothing (E32). */
function checkMiddleware(middleware: readonly Middleware[]): readonly Middleware[] {
  anArray('middleware', middleware);
  for (const one of middleware) {
    anObject('middleware', one);
    const { name } = one;
    if (typeof name !== 'string' || name.length === 0)
      throw new OptionError('middleware.name', name, 'needed a name');
    for (const hook of HOOKS) if (one[hook] !== undefined) aFunction(`${name}.${hook}`, one[hook]);
  }
  mustDiffer(middleware);
  return [...middleware];
}

/** In one list, and in all lists of one actor together: twice the same would hold, count and answer itself. */
export function mustDiffer(middleware: readonly Middleware[]): void {
  const names = new Set<string>();
  for (const { name } of middleware) {
    if (names.has(name)) throw new OptionError('middleware.name', name, 'needed a name that is used once');
    names.add(name);
  }
}
