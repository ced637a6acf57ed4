import {
  type ActorSystem,
  createSystem,
  type Host,
  type Middleware,
  nodeHost,
  type SystemOptions,
} from '@troupe/core';

/** A middleware that wants more of its system than its messages. */
export interface Equipment extends Middleware {
  /** Stands between the runtime and its host: to see its log lines, or to run its callbacks in a context of their own. */
  readonly wrapHost?: (host: Host) => Host;
  /** Told of the system once it exists, together with all its middleware. Returns the function that ends it. */
  readonly attach?: (system: ActorSystem, middleware: readonly Middleware[]) => () => void;
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

/** Without the ones that have no hook: an actor with an empty list is as fast as one that never heard of middleware. */
export function withHooks(middleware: readonly Middleware[]): readonly Middleware[] {
  return middleware.filter((one) => HOOKS.some((hook) => one[hook] !== undefined));
}

/**
 * Like `createSystem`, for a system whose middleware also wants its host and its events: telemetry and logging do. What
 * has nothing to do (telemetry without an SDK) is left out.
 */
export function createEquippedSystem(options: SystemOptions = {}): ActorSystem {
  const middleware: readonly Equipment[] = options.middleware ?? [];
  let host = options.host ?? nodeHost;
  for (const { wrapHost } of middleware) host = wrapHost?.(host) ?? host;
  const system = createSystem({ ...options, host, middleware: withHooks(middleware) });
  const detach = middleware.map((one) => one.attach?.(system, middleware));
  void system.whenStopped.then(() => {
    for (const end of detach) end?.();
  });
  return system;
}
