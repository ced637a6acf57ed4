import {
  type ActorSystem,
  createSystem,
  type Host,
  type Middleware,
  nodeHost,
  type SystemOptions,
} from '@troupe/core';

/** A middleware that also needs the host or the events of its system. */
export interface SystemMiddleware extends Middleware {
  /**
   * Wraps the host of the runtime: to receive its log lines, or to run its callbacks in another async
   * context.
   */
  readonly wrapHost?: ((host: Host) => Host) | undefined;
  /** Called once with the new system and all its middleware. The returned function detaches it again. */
  readonly attach?: ((system: ActorSystem, middleware: readonly Middleware[]) => () => void) | undefined;
}

/**
 * `createSystem` for middleware that also needs the host and the events of the system, as telemetry and
 * logging do. A middleware without hooks (telemetry without an SDK) costs nothing: the runtime skips it.
 */
export function createInstrumentedSystem(options: SystemOptions = {}): ActorSystem {
  const middleware: readonly SystemMiddleware[] = options.middleware ?? [];
  let host = options.host ?? nodeHost;
  for (const { wrapHost } of middleware) host = wrapHost?.(host) ?? host;
  const system = createSystem({ ...options, host, middleware });
  const detachAll = middleware.map(({ attach }) => attach?.(system, middleware));
  void system.whenStopped.then(() => {
    for (const detach of detachAll) detach?.();
  });
  return system;
}
