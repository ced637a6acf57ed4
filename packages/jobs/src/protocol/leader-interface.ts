import type { AnyRef } from '@troupe/core';
import type { ClientHello, ClientMessage, ToClient } from './client-messages.js';
import type {
  AttemptRef,
  PulseBeat,
  PulseHello,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from './worker-messages.js';

/** What a peer may do, where its connection has proved who it is. `subject` is `job.submit.{group}` and its like. */
export interface PeerAccess {
  permits(action: PeerAction, subject: string): boolean;
  /** Whether jobs of that client are this peer's own. */
  owns(client: string): boolean;
}

export type PeerAction = 'submit' | 'work' | 'observe' | 'cancel' | 'admin';

/** Where the leader's messages to one session go, and who to watch for its end. The object itself is the session's name. */
export interface PeerPort<Message> {
  readonly ref: AnyRef;
  /** Everything is allowed, unless given. */
  readonly access?: PeerAccess | undefined;
  /** It reads stored payloads by itself, while it sends them. */
  readonly streams?: boolean | undefined;
  send(message: Message): void;
}

/** An attempt whose payload cannot be read from the disk. */
export interface LostPayload extends AttemptRef {
  readonly problem: string;
}

/** What a worker sees of a leader: in the same process, or behind a connection. */
export interface WorkerFace {
  helloWorker(message: { readonly hello: WorkerHello; readonly port: PeerPort<ToWorker> }): void;
  fromWorker(message: { readonly message: WorkerMessage; readonly port: PeerPort<ToWorker> }): void;
}

/** What the pulse of a worker sees of a leader. */
export interface PulseFace {
  helloPulse(message: { readonly hello: PulseHello; readonly port: PeerPort<ToWorker> }): void;
  fromPulse(message: { readonly beat: PulseBeat; readonly port: PeerPort<ToWorker> }): void;
}

/** What a client sees of a leader. */
export interface ClientFace {
  helloClient(message: { readonly hello: ClientHello; readonly port: PeerPort<ToClient> }): void;
  fromClient(message: { readonly message: ClientMessage; readonly port: PeerPort<ToClient> }): void;
}
