import type { AnyRef } from '@troupe/core';
import type { ClientHello, ClientMessage, ToClient } from './client-messages.js';
import type {
  AttemptRef,
  HeartbeatHello,
  LoopBlocked,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from './worker-messages.js';

/**
 * The rights of a peer whose connection has proved who it is. A subject is, for example,
 * `job.submit.{group}`.
 */
export interface PeerAccess {
  /** Its part of the shared tables is counted by this name. */
  readonly identity: string;
  /** Whether the identity may submit so many jobs now; they count against its rate. */
  takeSubmits?(jobs: number): boolean;
  permits(action: PeerAction, subject: string): boolean;
  /** Whether jobs of that client are this peer's own. */
  owns(client: string): boolean;
}

type PeerAction = 'submit' | 'work' | 'observe' | 'cancel' | 'admin';

/** The way back to one peer. The object itself identifies the session. */
export interface PeerPort<Message> {
  /** The leader watches it: its end is the end of the session. */
  readonly ref: AnyRef;
  /** Everything is allowed, unless given. */
  readonly access?: PeerAccess | undefined;
  /** The most attempts a worker may have at once, as its connection announced. */
  readonly creditMax?: number | undefined;
  /** It reads stored payloads by itself while it writes them. */
  readonly streams?: boolean | undefined;
  write(message: Message): void;
}

/** An attempt whose payload cannot be read from the disk. */
export interface LostPayload extends AttemptRef {
  readonly problem: string;
}

/** A worker's view of a leader: in the same process, or behind a connection. */
export interface LeaderForWorkers {
  helloWorker(message: { readonly hello: WorkerHello; readonly port: PeerPort<ToWorker> }): void;
  fromWorker(message: { readonly message: WorkerMessage; readonly port: PeerPort<ToWorker> }): void;
}

/** The view of a worker's heartbeat thread. */
export interface LeaderForHeartbeats {
  helloHeartbeat(message: { readonly hello: HeartbeatHello; readonly port: PeerPort<ToWorker> }): void;
  fromHeartbeat(message: { readonly report: LoopBlocked; readonly port: PeerPort<ToWorker> }): void;
}

/** A client's view of a leader. */
export interface LeaderForClients {
  helloClient(message: { readonly hello: ClientHello; readonly port: PeerPort<ToClient> }): void;
  fromClient(message: { readonly message: ClientMessage; readonly port: PeerPort<ToClient> }): void;
}
