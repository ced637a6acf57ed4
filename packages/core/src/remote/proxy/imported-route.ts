import type { ActorCell } from '../../actor/actor-cell.js';
import type { CellRef } from '../../ref/cell-ref.js';
import type { StopReason } from '../../runtime-event.js';
import type { ActorAddress, RemoteDefinition } from '../threads.js';
import { idOf, Route, type RouteParts } from './route.js';

/** The route of a ref that came from another thread: its proxy has no parent. */
export class ImportedRoute extends Route {
  readonly address: ActorAddress;
  readonly path: string;
  readonly id: string;
  private isOver = false;

  constructor(
    parts: RouteParts,
    definition: RemoteDefinition,
    runsOn: number,
    address: ActorAddress,
    path: string,
  ) {
    super(parts, definition, runsOn);
    this.address = address;
    this.path = path;
    this.id = idOf(address);
  }

  /** The proxy was made: the home will report the end of the actor. */
  opened(cell: ActorCell): void {
    const { address, parts } = this;
    cell.ensureCold().onStopped.push(() => {
      if (!this.isOver) void this.endActor('kill');
    });
    parts.signal(address.thread, { kind: 'import', at: address });
  }

  override ended(ref: CellRef, reason: StopReason): void {
    this.isOver = true;
    super.ended(ref, reason);
  }

  protected endActor(how: 'stop' | 'drain' | 'kill'): Promise<void> | undefined {
    if (this.isOver) return undefined;
    this.parts.signal(this.address.thread, { kind: 'end', at: this.address, how });
    return how === 'kill' ? undefined : this.awaitSettlement();
  }
}
