import type { ActorCell } from '../actor/actor-cell.js';
import type { ActorHome } from '../actor/actor-home.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { SuspensionToken } from '../define/actor-context.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import type { SpawnOptionsWithArgs } from '../define/spawn-options.js';
import { toError } from '../errors/thrown-value.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { FailureReport } from '../supervision/failure-report.js';
import { endActor, idOf } from './proxy/route.js';
import type { ActorAddress, RemoteRef, RemoteSignal, RemoteTerms, Threads } from './threads.js';

/** A message or request for a resident whose definition is still being loaded, or that is not spawned yet. */
export type Early =
  | {
      readonly from: number;
      readonly handler: number;
      readonly payload: unknown;
      readonly terms: RemoteTerms | undefined;
    }
  | { readonly from: number; readonly signal: RemoteSignal };

/** The place of a resident: after its end the last one stays, so that its messages have a name. */
interface Place {
  readonly generation: number;
  cell: ActorCell | undefined;
  readonly early: Early[];
  /** Its proxy has ended: no resident will come. */
  isOver: boolean;
}

/** A resident's part of a restart: it waits at rest until its home replaces it. */
class ResidentRestart {
  private readonly onRest: () => void;

  constructor(onRest: () => void) {
    this.onRest = onRest;
  }

  rests(): void {
    this.onRest();
  }

  /** It stops instead, which its home is notified of. */
  left(ref: CellRef): void {
    if (ref.cell.cold !== undefined) ref.cell.cold.group = undefined;
  }

  passed(cell: ActorCell): void {
    this.left(cell.ref);
  }
}

export interface ResidentDelivery {
  deliver(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    terms: RemoteTerms | undefined,
  ): void;
  handle(from: number, signal: RemoteSignal): void;
  cellOf(ref: RemoteRef): ActorCell;
}

/** Actors that run here and have their supervisor on another thread. */
export class Residents {
  /** Messages for residents that are not here yet. */
  early = 0;
  private readonly runtime: Parts<
    'childLists' | 'events' | 'executor' | 'guardian' | 'log' | 'spawner' | 'suspensions'
  >;
  private readonly threads: Threads;
  private readonly messages: ResidentDelivery;
  /** By home and slot. */
  private readonly places = new Map<number, Map<number, Place>>();
  private readonly suspended = new Map<string, SuspensionToken>();

  constructor(runtime: Residents['runtime'], threads: Threads, messages: ResidentDelivery) {
    this.runtime = runtime;
    this.threads = threads;
    this.messages = messages;
  }

  /** The resident of exactly this address, also an ended one while its slot was not given out again. */
  find(home: number, slot: number, generation: number): ActorCell | undefined {
    const place = this.places.get(home)?.get(slot);
    return place?.generation === generation ? place.cell?.ref.cell : undefined;
  }

  /** All that have not ended. */
  get living(): readonly ActorCell[] {
    const cells = [...this.places.values()].flatMap((bySlot) => [...bySlot.values()]);
    return cells.flatMap(({ cell }) =>
      cell === undefined || cell.ref.cell.isTerminated ? [] : [cell.ref.cell],
    );
  }

  /** For one that is not here: kept when it will be, false when it has ended. */
  keepEarly(at: ActorAddress, early: Early): boolean {
    const place = this.placeOf(at);
    if (place === undefined || place.cell !== undefined || place.isOver) return false;
    place.early.push(early);
    if (!('signal' in early)) this.early += 1;
    return true;
  }

  /** Undefined for an address that a later one has replaced. */
  private placeOf({ thread, slot, generation }: ActorAddress): Place | undefined {
    const bySlot = this.places.get(thread) ?? new Map<number, Place>();
    this.places.set(thread, bySlot);
    const known = bySlot.get(slot);
    if (known !== undefined && known.generation >= generation)
      return known.generation === generation ? known : undefined;
    const place: Place = { generation, cell: undefined, early: [], isOver: false };
    bySlot.set(slot, place);
    return place;
  }

  spawn(from: number, signal: RemoteSignal & { readonly kind: 'spawn' }): void {
    const { at } = signal;
    const bySlot = this.places.get(at.thread);
    const before = bySlot?.get(at.slot);
    // A new life of the same proxy: a permanent child, or one whose thread has ended.
    if (before?.generation === at.generation && before.cell?.isTerminated === true)
      bySlot?.set(at.slot, { generation: at.generation, cell: undefined, early: [], isOver: false });
    const place = this.placeOf(at);
    if (place === undefined) return;
    try {
      const definition = this.threads.load(signal.definition);
      if (!(definition instanceof Promise)) return this.start(from, place, definition, signal);
      definition
        .then((loaded) => this.start(from, place, loaded, signal))
        .catch((reason: unknown) => this.cannotStart(from, at, toError(reason)));
    } catch (thrown) {
      this.cannotStart(from, at, toError(thrown));
    }
  }

  private cannotStart(from: number, at: ActorAddress, error: Error): void {
    this.threads.signal(from, {
      kind: 'failed',
      at,
      error,
      message: 'spawn',
      unresumable: true,
      isFinal: true,
      messageHistory: [],
    });
  }

  private start(
    from: number,
    place: Place,
    definition: AnyDefinition,
    signal: RemoteSignal & { readonly kind: 'spawn' },
  ): void {
    const { at } = signal;
    if (this.places.get(at.thread)?.get(at.slot) !== place || place.isOver) return;
    const options = this.threads.unpack(signal.packed) as SpawnOptionsWithArgs;
    const home = this.homeOf(from, signal);
    const cell = this.runtime.spawner.spawn(this.runtime.guardian, definition, options, undefined, home);
    place.cell = cell;
    cell.ensureCold().onStopped.push((reason) => this.threads.signal(from, { kind: 'stopped', at, reason }));
    for (const one of this.takeEarly(place)) {
      if ('signal' in one) this.messages.handle(one.from, one.signal);
      else this.messages.deliver(one.from, cell, one.handler, one.payload, one.terms);
    }
  }

  private homeOf(from: number, { at, path, parent }: RemoteSignal & { readonly kind: 'spawn' }): ActorHome {
    return {
      address: at,
      path,
      id: idOf(at),
      parent: parent === undefined ? undefined : this.messages.cellOf(parent).ref,
      failed: (report) => this.reportFailure(from, at, report),
    };
  }

  private reportFailure(from: number, at: ActorAddress, report: FailureReport): void {
    const { child, error, message, unresumable } = report;
    // Looked up only for listeners: that is slow.
    const messageHistory = this.runtime.events.hasListeners
      ? this.runtime.log.messageHistoryOf(child.slot)
      : [];
    this.threads.signal(from, {
      kind: 'failed',
      at,
      error,
      message,
      unresumable,
      isFinal: false,
      messageHistory,
    });
  }

  /** A request of the home of a resident, or of any thread to an actor that has its home here. */
  handle(from: number, cell: ActorCell, signal: RemoteSignal): void {
    switch (signal.kind) {
      case 'resume':
        return this.resume(cell);
      case 'rest':
        return this.rest(from, cell, signal.at, signal.error);
      case 'replace':
        return cell.putSignal({ kind: 'replace' });
      case 'end':
        return endActor(cell, signal.how);
      case 'suspend':
        return this.suspend(from, cell, signal.token, signal.reason);
      case 'unsuspend':
        return this.unsuspend(from, signal.token);
      default:
        return undefined;
    }
  }

  private resume(cell: ActorCell): void {
    const report = cell.cold?.failure;
    if (report !== undefined) cell.putSignal({ kind: 'directive', directive: 'resume', report });
  }

  private rest(from: number, cell: ActorCell, at: ActorAddress, error: Error): void {
    const cold = cell.ensureCold();
    const report: FailureReport = cold.failure ?? {
      child: cell,
      origin: cell,
      error,
      message: 'a sibling',
      at: this.runtime.executor.coarseNow,
      unresumable: false,
      isFinal: false,
    };
    cold.group = new ResidentRestart(() => this.threads.signal(from, { kind: 'rested', at }));
    cell.markFailed();
    cell.putSignal({ kind: 'directive', directive: 'restart', report });
  }

  private suspend(from: number, cell: ActorCell, token: number, reason: string): void {
    const why = reason === 'operator' ? 'operator' : { user: reason };
    const suspension = this.runtime.suspensions.suspend(cell, why, { on: 'resume' }, true);
    this.suspended.set(`${from}:${token}`, suspension);
  }

  private unsuspend(from: number, token: number): void {
    const key = `${from}:${token}`;
    this.suspended.get(key)?.resume();
    this.suspended.delete(key);
  }

  /** Its proxy has ended: messages wait no longer for a resident. Returns those that did. */
  forget(at: ActorAddress): readonly Early[] {
    const place = this.placeOf(at);
    if (place === undefined) return [];
    place.isOver = true;
    place.cell?.ref.cell.requestKill();
    return this.takeEarly(place);
  }

  private takeEarly(place: Place): readonly Early[] {
    const all = place.early.splice(0);
    for (const early of all) if (!('signal' in early)) this.early -= 1;
    return all;
  }

  /** Their supervisors have ended with their thread. Returns messages for residents that will not come. */
  threadEnded(home: number): readonly { readonly at: ActorAddress; readonly early: readonly Early[] }[] {
    const places = [...(this.places.get(home) ?? [])];
    this.places.delete(home);
    return places.map(([slot, place]) => {
      place.cell?.ref.cell.requestKill();
      const { generation } = place;
      return { at: { thread: home, slot, generation }, early: this.takeEarly(place) };
    });
  }
}
