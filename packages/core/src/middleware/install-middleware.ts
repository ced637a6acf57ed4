import type { Host } from '../host.js';
import type { ActorSystem } from '../system.js';
import type { Middleware } from './middleware.js';

/** The host as the runtime sees it, through the middleware of the system: the first wraps the host itself. */
export function wrappedHost(host: Host, middleware: readonly Middleware[]): Host {
  let wrapped = host;
  for (const { wrapHost } of middleware) wrapped = wrapHost?.(wrapped) ?? wrapped;
  return wrapped;
}

/** The installations of one system's middleware. */
export class InstalledMiddleware {
  private readonly installations: Disposable[] = [];
  private readonly onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  /** An error of one ends the installations before it. */
  install(system: ActorSystem, middleware: readonly Middleware[]): void {
    try {
      for (const { install } of middleware) {
        const installation = install?.({ system, middleware });
        if (installation !== undefined) this.installations.push(installation);
      }
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /** The last one first; an error does not keep the others. */
  dispose(): void {
    for (const installation of this.installations.splice(0).reverse()) {
      try {
        installation[Symbol.dispose]();
      } catch (error) {
        this.onError(error);
      }
    }
  }
}
