import type { ActorCell } from '../../actor/actor-cell.js';
import type { RuntimeParts } from '../../actor/runtime-parts.js';
import type { SuspensionToken } from '../../define/actor-context.js';
import { messageOf } from '../../errors/bounded-error.js';
import { toError } from '../../errors/thrown-value.js';
import { type Envelope, enveloped } from '../../message/envelope.js';
import { type PackedContexts, packContexts } from '../../middleware/crossing-contexts.js';
import type { CellRef } from '../../ref/cell-ref.js';
import type { StopReason } from '../../runtime-event.js';
import type { RemoteAsks } from '../remote-asks.js';
import type { ActorAddress, RemoteDefinition, RemoteRef, RemoteSignal, Threads } from '../threads.js';

const UNTIL_RESUMED = { on: 'resume' } as const;

/** Numbers of suspensions by this thread. */
let suspensions = 0;

/** The parts that routes share. */
export interface RouteParts {
  readonly runtime: RuntimeParts;
  readonly threads: Threads;
  readonly asks: RemoteAsks;
  /** Messages that proxies have taken; the invoker has counted them as handled. */
  forwarded: number;
  waitForRoom(thread: number, token: SuspensionToken): void;
  /** A record to a thread, which may be this one. */
  signal(thread: number, signal: RemoteSignal): void;
  toldHere(route: Route, handler: number, payload: unknown, contexts: PackedContexts | undefined): void;
  refOf(cell: ActorCell): RemoteRef;
}

/** The way from a proxy to its actor: the state of the proxy. */
export abstract class Route {
  readonly definition: RemoteDefinition;
  readonly layouts: RemoteDefinition['layouts'];
  /** The thread on which the actor runs. */
  readonly runsOn: number;
  /** Settles the end or the rest that the proxy waits for. */
  protected settle: (() => void) | undefined = undefined;
  protected readonly parts: RouteParts;
  private pausedBy: SuspensionToken | undefined = undefined;

  constructor(parts: RouteParts, definition: RemoteDefinition, runsOn: number) {
    this.parts = parts;
    this.definition = definition;
    this.layouts = definition.layouts;
    this.runsOn = runsOn;
  }

  abstract readonly address: ActorAddress;
  /** Undefined where the proxy has the place of the actor, and so its path and id. */
  abstract readonly path: string | undefined;
  abstract readonly id: string | undefined;

  /** A message of the proxy: the handler of all its messages. */
  forward(cell: ActorCell, handler: number, payload: unknown): unknown {
    const { parts } = this;
    const { envelope } = parts.runtime.invoker;
    parts.forwarded += 1;
    if (envelope?.resolve === undefined) return this.writeMessage(cell, handler, payload, envelope);
    this.writeAsk(cell, envelope);
    return parts.asks.later;
  }

  /** Writes a message for the actor to its thread. */
  writeMessage(cell: ActorCell, handler: number, payload: unknown, envelope?: Envelope): void {
    const { runsOn, parts } = this;
    try {
      const contexts = envelope === undefined ? undefined : packContexts(cell, envelope);
      if (runsOn === parts.threads.self) return parts.toldHere(this, handler, payload, contexts);
      const layout = this.layouts?.[handler];
      const hasRoom = parts.threads.tell(runsOn, this.address, handler, payload, contexts, layout);
      parts.runtime.monitor?.written();
      if (!hasRoom) this.waitForRoom(cell);
    } catch (thrown) {
      this.undelivered(cell, handler, payload, envelope, toError(thrown));
    }
  }

  writeAsk(cell: ActorCell, envelope: Envelope): void {
    try {
      const hasRoom = this.parts.asks.forward(this, envelope, packContexts(cell, envelope));
      this.parts.runtime.monitor?.written();
      if (!hasRoom) this.waitForRoom(cell);
    } catch (thrown) {
      this.undelivered(cell, envelope.handler, envelope.payload, envelope, toError(thrown));
    }
  }

  private waitForRoom(cell: ActorCell): void {
    const { parts } = this;
    parts.waitForRoom(
      this.runsOn,
      parts.runtime.suspensions.suspend(cell, 'backpressure', UNTIL_RESUMED, true),
    );
  }

  private undelivered(
    cell: ActorCell,
    handler: number,
    payload: unknown,
    envelope: Envelope | undefined,
    error: Error,
  ): void {
    const { asks, deadLetters, log } = this.parts.runtime;
    const isAsk = envelope?.reject !== undefined;
    const message = this.definition.handlers[handler] as string;
    if (!isAsk)
      log.write('error', `${cell.path}.${message}: ${messageOf(error)}`, { path: cell.path, message, error });
    if (envelope !== undefined) asks.refuse(envelope, error);
    const slot = envelope === undefined ? handler : enveloped(handler);
    deadLetters.undelivered(cell, slot, envelope ?? payload, 'not-cloneable');
  }

  /** The mailbox of the actor is full. */
  pause(cell: ActorCell): void {
    if (this.pausedBy?.active === true) return;
    this.pausedBy = this.parts.runtime.suspensions.suspend(cell, 'backpressure', UNTIL_RESUMED, true);
  }

  unpause(): void {
    this.pausedBy?.resume();
    this.pausedBy = undefined;
  }

  /** The `stopping` hook of the proxy: the actor ends first. */
  stop(cell: ActorCell): Promise<void> | undefined {
    return this.endActor(cell.isDraining ? 'drain' : 'stop');
  }

  protected abstract endActor(how: 'stop' | 'drain' | 'kill'): Promise<void> | undefined;

  protected awaitSettlement(): Promise<void> {
    return new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** The actor has ended: so does its proxy. */
  ended(ref: CellRef, reason: StopReason): void {
    this.unpause();
    this.settle?.();
    this.settle = undefined;
    ref.cell.putSignal({ kind: 'ended-elsewhere', reason });
  }

  /** Suspends the actor itself, beside its proxy. Returns the function that ends that. */
  suspendActor(reason: string): () => void {
    const { parts, runsOn, address: at } = this;
    suspensions += 1;
    const token = suspensions;
    parts.signal(runsOn, { kind: 'suspend', at, token, reason });
    return () => parts.signal(runsOn, { kind: 'unsuspend', at, token });
  }
}

export function endActor(cell: ActorCell, how: 'stop' | 'drain' | 'kill'): void {
  if (how === 'stop') cell.requestStop();
  else if (how === 'drain') cell.requestDrain();
  else cell.requestKill();
}

export function idOf({ thread, slot, generation }: ActorAddress): string {
  return `${thread === 0 ? '' : `${thread}:`}${slot}.${generation}`;
}
