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

/**
 * Like `createSystem`, for a system whose middleware also wants its host and its events: telemetry and logging do. What
 * has no hook (telemetry without an SDK) costs nothing: the runtime passes it over.
 */
export function createEquippedSystem(options: SystemOptions = {}): ActorSystem {
  const middleware: readonly Equipment[] = options.middleware ?? [];
  let host = options.host ?? nodeHost;
  for (const { wrapHost } of middleware) host = wrapHost?.(host) ?? host;
  const system = createSystem({ ...options, host, middleware });
  const detach = middleware.map((one) => one.attach?.(system, middleware));
  void system.whenStopped.then(() => {
    for (const end of detach) end?.();
  });
  return system;
}
