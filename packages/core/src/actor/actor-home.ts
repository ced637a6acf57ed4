import type { CellRef } from '../ref/cell-ref.js';
import type { FailureReport } from '../supervision/failure-report.js';

/** The place of an actor whose supervisor is on another thread. */
export interface ActorHome {
  readonly address: { readonly thread: number; readonly slot: number; readonly generation: number };
  readonly path: string;
  readonly id: string;
  readonly parent: CellRef | undefined;
  /** Reports a failure to the supervisor. */
  failed(report: FailureReport): void;
}

/** The way of a proxy to the actor that it stands for. */
export interface ProxyRoute {
  readonly address: { readonly thread: number; readonly slot: number; readonly generation: number };
  readonly runsOn: number;
  /** Undefined where the proxy has the place of the actor. */
  readonly path: string | undefined;
  readonly id: string | undefined;
  /** The parent has decided that it goes on after a failure. */
  resume?(): void;
  suspendActor(reason: string): () => void;
}
