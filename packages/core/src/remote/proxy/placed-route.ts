import type { ActorCell } from '../../actor/actor-cell.js';
import type { CellRef } from '../../ref/cell-ref.js';
import type { StopReason } from '../../runtime-event.js';
import type { FailureCircumstances } from '../../supervision/failure-report.js';
import type { ActorAddress, RemoteDefinition, RemoteSignal } from '../threads.js';
import { Route, type RouteParts } from './route.js';

/** The state of the resident of a proxy, as the proxy knows it. */
type ResidentState = 'absent' | 'running' | 'resting';

/** The route of an actor that was spawned on another thread: its proxy has the actor's place in the tree. */
export class PlacedRoute extends Route {
  address: ActorAddress = { thread: -1, slot: -1, generation: -1 };
  readonly path = undefined;
  readonly id = undefined;
  private readonly packed: unknown;
  private resident: ResidentState = 'absent';
  private isWatched = false;

  constructor(parts: RouteParts, definition: RemoteDefinition, runsOn: number, packed: unknown) {
    super(parts, definition, runsOn);
    this.packed = packed;
  }

  /** The `started` hook of the proxy. */
  start(cell: ActorCell): void {
    const { parts } = this;
    this.address = { thread: parts.threads.self, slot: cell.slot, generation: cell.generation };
    this.watchEnd(cell.ref);
    if (this.resident === 'resting') parts.signal(this.runsOn, { kind: 'replace', at: this.address });
    else this.spawn(cell);
    this.resident = 'running';
  }

  private spawn(cell: ActorCell): void {
    const { parts, packed, definition, address: at } = this;
    const parent = parts.runtime.childLists.parentOf(cell.slot);
    parts.signal(this.runsOn, {
      kind: 'spawn',
      at,
      path: cell.path,
      definition,
      parent: parent === undefined || parent === parts.runtime.guardian ? undefined : parts.refOf(parent),
      packed,
    });
  }

  /** Once per life of the proxy: a permanent one begins a new life after its end. */
  private watchEnd(ref: CellRef): void {
    if (this.isWatched) return;
    this.isWatched = true;
    ref.cell.ensureCold().onStopped.push((reason) => {
      this.isWatched = false;
      if (this.resident !== 'absent') void this.endActor('kill');
      this.resident = 'absent';
      if (ref.cell.isTerminated) this.parts.signal(this.runsOn, { kind: 'ended', at: this.address, reason });
    });
  }

  protected endActor(how: 'stop' | 'drain' | 'kill'): Promise<void> | undefined {
    if (this.resident === 'absent') return undefined;
    this.parts.signal(this.runsOn, { kind: 'end', at: this.address, how });
    return how === 'kill' ? undefined : this.awaitSettlement();
  }

  /** The `restarting` hook of the proxy: it rests when the resident does. */
  rest(error: Error): Promise<void> | undefined {
    if (this.resident !== 'running') return undefined;
    this.parts.signal(this.runsOn, { kind: 'rest', at: this.address, error });
    return this.awaitSettlement();
  }

  private rested(): void {
    this.resident = 'resting';
    this.settle?.();
    this.settle = undefined;
  }

  resume(): void {
    if (this.resident === 'running') this.parts.signal(this.runsOn, { kind: 'resume', at: this.address });
  }

  override ended(ref: CellRef, reason: StopReason): void {
    const wasAwaited = this.settle !== undefined;
    this.resident = 'absent';
    if (!wasAwaited) return super.ended(ref, reason);
    this.unpause();
    this.settle?.();
    this.settle = undefined;
  }

  /** Its thread has ended, and the resident with it. */
  lost(cell: ActorCell, error: Error): void {
    const hadResident = this.resident !== 'absent';
    this.resident = 'absent';
    this.unpause();
    this.settle?.();
    this.settle = undefined;
    if (hadResident) this.failed(cell, error, { hook: 'thread', isCutOff: true });
  }

  /** A report of the thread on which the resident is. */
  handle(cell: ActorCell, signal: RemoteSignal): void {
    if (signal.kind === 'failed') {
      const { error, message: hook, unresumable: isCutOff, isFinal, messageHistory: messagesThere } = signal;
      this.failed(cell, error, { hook, isCutOff, isFinal, messagesThere });
    } else if (signal.kind === 'rested') this.rested();
    else if (signal.kind === 'stopped') this.ended(cell.ref, signal.reason);
  }

  /** A failure of the resident is a failure of the proxy. */
  private failed(cell: ActorCell, error: Error, circumstances: FailureCircumstances): void {
    if (circumstances.isFinal === true) this.resident = 'absent';
    this.parts.runtime.failures.failed(cell, error, -1, undefined, circumstances);
  }
}
