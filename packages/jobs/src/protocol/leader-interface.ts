import type { AnyRef, Delivered } from '@troupe/core';
import type { ClientHello, ClientMessage, ToClient } from './client/client-messages.js';
import type {
  AttemptRef,
  HeartbeatHello,
  LoopBlocked,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from './worker/worker-messages.js';

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

type PeerAction = 'submit' | 'work' | 'observe' | 'feed' | 'cancel' | 'admin';

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
  /**
   * `full`: the leader keeps the message, and offers again when the session reports `writable`, at the latest
   * with its next tick.
   */
  offer(message: Message): Delivered;
  /** Its peer reads too slowly for the leader to keep more for it: the connection is to end. */
  endSlowReader?(): void;
  /** A message without an answer has been handled: its bytes count no more. */
  handled?(bytes: number): void;
}

/** A port of any session, as its identity. */
export type AnyPort = PeerPort<never>;

/** An attempt whose payload cannot be read from the disk. */
export interface LostPayload extends AttemptRef {
  readonly problem: string;
}

export interface ClientOpened {
  readonly hello: ClientHello;
  readonly port: PeerPort<ToClient>;
}

export interface FromClient {
  readonly message: ClientMessage;
  readonly port: PeerPort<ToClient>;
  /** Of a message without an answer: they count against its connection until it is handled. */
  readonly bytes?: number | undefined;
}

export interface WorkerOpened {
  readonly hello: WorkerHello;
  readonly port: PeerPort<ToWorker>;
}

export interface FromWorker {
  readonly message: WorkerMessage;
  readonly port: PeerPort<ToWorker>;
}

export interface HeartbeatOpened {
  readonly hello: HeartbeatHello;
  readonly port: PeerPort<ToWorker>;
}

export interface FromHeartbeat {
  readonly report: LoopBlocked;
  readonly port: PeerPort<ToWorker>;
}

/**
 * A worker's view of a leader: in the same process, or behind a connection. `Result`: nothing, or whether
 * there was room.
 */
export interface LeaderForWorkers<Result = void> {
  helloWorker(opened: WorkerOpened): Result;
  fromWorker(received: FromWorker): Result;
}

/** The view of a worker's heartbeat thread. */
export interface LeaderForHeartbeats<Result = void> {
  helloHeartbeat(opened: HeartbeatOpened): Result;
  fromHeartbeat(received: FromHeartbeat): Result;
}

/** A client's view of a leader. */
export interface LeaderForClients<Result = void> {
  helloClient(opened: ClientOpened): Result;
  fromClient(received: FromClient): Result;
}

/** The view of connections, which carry all of these. */
export interface LeaderForPeers<Result = void>
  extends LeaderForClients<Result>,
    LeaderForWorkers<Result>,
    LeaderForHeartbeats<Result> {
  payloadLost(lost: LostPayload & { readonly port: PeerPort<ToWorker> }): Result;
  /** A session that was full has room again. */
  writable(port: AnyPort): Result;
  /** The connection behind the port is lost. */
  connectionLost(port: AnyPort): Result;
}
