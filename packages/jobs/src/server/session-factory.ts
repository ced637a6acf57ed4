import type { ActorRef, ActorSystem, Host } from '@troupe/core';
import type { Compression, Connection, ConnectionHandler } from '@troupe/transport';
import type { PayloadStore } from '../job/stored-payload.js';
import type { ToClient } from '../protocol/client-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';
import { ClientPeer } from './client-connection.js';
import { accessOf, type LeaderFaces, type PeerSetup } from './connection-setup.js';
import { MinimalClient } from './minimal/minimal-client.js';
import { MinimalWorker } from './minimal/minimal-worker.js';
import type { Deliver, SessionActor, SessionArgs, SpawnSession } from './session-actor.js';
import { WorkerPeer } from './worker-connection.js';

export interface DoorSetup {
  readonly system: ActorSystem;
  readonly spawn: SpawnSession;
  readonly leader: LeaderFaces;
  readonly host: Host;
  readonly bodyBytesMax: number;
  readonly waitingBytesMax: number;
  readonly compress?: Compression | undefined;
  readonly payloads?: PayloadStore | undefined;
}

/** Gives every connection its session: an actor, and the peer that fits its role and dialect. */
export class LeaderDoor {
  private readonly setup: DoorSetup;

  constructor(setup: DoorSetup) {
    this.setup = setup;
  }

  readonly admit = (connection: Connection): ConnectionHandler => {
    const args: SessionArgs = { connection, peer: undefined };
    const ref = this.setup.spawn(args);
    const peer = this.peerOf(connection, ref);
    args.peer = peer;
    return peer;
  };

  private peerOf(connection: Connection, ref: ActorRef<typeof SessionActor>): Deliver & ConnectionHandler {
    const { host } = this.setup;
    const { dialect, role } = connection.handshake;
    if (role === 'worker') {
      const setup = this.peerSetup<ToWorker>(connection, ref);
      return dialect === 'full' ? new WorkerPeer(setup) : new MinimalWorker(setup, host);
    }
    const setup = this.peerSetup<ToClient>(connection, ref);
    return dialect === 'full' ? new ClientPeer(setup) : new MinimalClient(setup, host);
  }

  private peerSetup<Out>(connection: Connection, ref: ActorRef<typeof SessionActor>): PeerSetup<Out> {
    const { system, leader, bodyBytesMax, waitingBytesMax, compress, payloads } = this.setup;
    const streams = connection.handshake.dialect === 'full';
    const access = accessOf(connection.handshake);
    const port = (): PeerPort<Out> => ({
      ref,
      access,
      streams,
      send: (message) => ref.tell.deliver(message),
    });
    const gone = (): void => void system.stop(ref);
    return { connection, leader, bodyBytesMax, waitingBytesMax, compress, payloads, port, gone };
  }
}
