import type { ActorCell } from '../actor/actor-cell.js';
import { MiddlewareError } from '../errors/error-classes.js';
import { toError } from '../errors/thrown-value.js';
import type { Envelope } from '../message/envelope.js';
import { SendHookContext } from './hooks/hook-contexts.js';
import type { CrossingView, Middleware } from './middleware.js';

/** Contexts of a message between threads, as data, by the names of their middleware. */
export type PackedContexts = Readonly<Record<string, unknown>>;

/** Undefined for a message without contexts. */
export function packContexts(proxy: ActorCell, envelope: Envelope): PackedContexts | undefined {
  const { pipeline } = proxy.type;
  if (envelope.context === undefined || pipeline === undefined) return undefined;
  const crossing = new SendHookContext(proxy, envelope.handler, envelope.payload, undefined);
  const packed: Record<string, unknown> = {};
  for (const middleware of pipeline.senders) {
    const context = pipeline.contextOf(envelope.context, middleware);
    if (context !== undefined) packed[middleware.name] = pack(middleware, context, crossing);
  }
  return packed;
}

function pack(middleware: Middleware, context: unknown, crossing: CrossingView): unknown {
  if (middleware.packContext === undefined) return context;
  try {
    return middleware.packContext(context, crossing);
  } catch (error) {
    throw new MiddlewareError(middleware.name, 'packContext', toError(error));
  }
}

/** The contexts of a message that came from another thread. */
export class ArrivedContexts {
  private readonly packed: PackedContexts;

  constructor(packed: PackedContexts) {
    this.packed = packed;
  }

  has({ name }: Middleware): boolean {
    return Object.hasOwn(this.packed, name);
  }

  unpack({ name, unpackContext }: Middleware, crossing: CrossingView): unknown {
    const packed = this.packed[name];
    return unpackContext === undefined ? packed : unpackContext(packed, crossing);
  }
}
