import type { ActorCell } from '../../actor/actor-cell.js';
import { STOP_WITHIN_MS_DEFAULT } from '../../actor/actor-type.js';
import type { AnyDefinition } from '../../define/actor-definition.js';
import { makeDefinition } from '../../define/define-actor.js';
import { layoutFields } from '../../define/fixed-layout.js';
import type { RemoteDefinition } from '../threads.js';
import type { PlacedRoute } from './placed-route.js';
import type { Route } from './route.js';

/** A resident that does not stop is killed on its own thread first. */
const STOP_MARGIN_MS = 1_000;

/** The definitions of proxies: one for each definition as it is known here, or on another thread. */
export class ProxyDefinitions {
  private readonly placed = new WeakMap<AnyDefinition, AnyDefinition>();
  private readonly imported = new Map<string, AnyDefinition>();

  /** Of an actor that is spawned on another thread. */
  placedOf(definition: AnyDefinition): AnyDefinition {
    const known = this.placed.get(definition);
    if (known !== undefined) return known;
    const { stopWithinMs = STOP_WITHIN_MS_DEFAULT } = definition['~spec'];
    const made = defineProxy(remoteOf(definition), stopWithinMs + STOP_MARGIN_MS, {
      started: (ctx: ActorCell) => (ctx.state as PlacedRoute).start(ctx),
      restarting: (ctx: ActorCell, error: Error) => (ctx.state as PlacedRoute).rest(error),
    });
    const proxy = { ...made, '~represents': { ...remoteOf(definition), definition } };
    this.placed.set(definition, proxy);
    return proxy;
  }

  /** Of a ref that came from another thread. */
  importedOf(remote: RemoteDefinition): AnyDefinition {
    const key = JSON.stringify([remote.module, remote.name, remote.handlers]);
    const known = this.imported.get(key) ?? defineProxy(remote, Number.POSITIVE_INFINITY, {});
    this.imported.set(key, known);
    return known;
  }
}

function defineProxy(remote: RemoteDefinition, stopWithinMs: number, hooks: object): AnyDefinition {
  const handlers = remote.handlers.map((name, handler) => [
    name,
    (ctx: ActorCell, payload: unknown) => (ctx.state as Route).forward(ctx, handler, payload),
  ]);
  const made = makeDefinition(remote.name, {
    state: (route: Route) => route,
    handlers: Object.fromEntries(handlers),
    mailbox: { capacity: remote.capacity, overflow: remote.overflow },
    stopping: (ctx: ActorCell) => (ctx.state as Route).stop(ctx),
    stopWithinMs: Math.min(stopWithinMs, 2 ** 31 - 1),
    ...hooks,
  });
  return { ...made, '~represents': { ...remote, definition: undefined } };
}

/** A definition as other threads know it. */
export function remoteOf(definition: AnyDefinition): RemoteDefinition {
  const of = definition['~routees'] ?? definition;
  const { mailbox } = of['~spec'];
  return {
    name: of.name,
    module: of['~module']?.(),
    handlers: of['~handlerNames'],
    capacity: mailbox?.capacity,
    overflow: mailbox?.overflow,
    layouts: layoutsOf(of),
  };
}

function layoutsOf(definition: AnyDefinition): RemoteDefinition['layouts'] {
  const layouts = definition['~spec'].layouts as Readonly<Record<string, unknown>> | undefined;
  if (layouts === undefined) return undefined;
  return definition['~handlerNames'].map((name) => {
    const layout = layouts[name];
    return layout === undefined ? undefined : layoutFields(layout, name);
  });
}
