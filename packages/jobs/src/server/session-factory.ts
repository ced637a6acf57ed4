import type { ActorRef, ActorSystem, Host } from '@troupe/core';
import { type Compression, type Connection, type ConnectionHandler, SubmitQuota } from '@troupe/transport';
import type { PayloadStore } from '../job/payload-store.js';
import type { ToClient } from '../protocol/client-messages.js';
import type { LeaderForPeers, PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';
import type { MessageLimits } from '../wire/message-limits.js';
import { accessOf } from './authenticated-peer.js';
import { ClientConnection } from './client-connection.js';
import type { ConnectionSetup } from './connection-setup.js';
import { MinimalClientConnection } from './minimal/minimal-client-connection.js';
import { MinimalWorkerConnection } from './minimal/minimal-worker-connection.js';
import type { SessionActor, SessionArgs, SessionPeer, SpawnSession } from './session-actor.js';
import { WorkerConnection } from './worker-connection.js';

export interface SessionFactorySetup {
  readonly system: ActorSystem;
  readonly spawn: SpawnSession;
  readonly leader: LeaderForPeers;
  readonly host: Host;
  readonly messageLimits: MessageLimits;
  readonly waitingBytesMax: number;
  /** Jobs that one identity may submit. */
  readonly submitRate: { readonly perSecond: number; readonly burst: number };
  readonly compress?: Compression | undefined;
  readonly payloads?: PayloadStore | undefined;
}

/** Makes the session of every connection: an actor, and the handler for its role and dialect. */
export class SessionFactory {
  private readonly setup: SessionFactorySetup;
  private readonly quotas = new Map<string, SubmitQuota>();

  constructor(setup: SessionFactorySetup) {
    this.setup = setup;
  }

  readonly create = (connection: Connection): ConnectionHandler => {
    const args: SessionArgs = { connection, peer: undefined };
    const ref = this.setup.spawn(args);
    const peer = this.peerOf(connection, ref);
    args.peer = peer;
    return peer;
  };

  private peerOf(
    connection: Connection,
    ref: ActorRef<typeof SessionActor>,
  ): SessionPeer & ConnectionHandler {
    const { host } = this.setup;
    const { dialect, role } = connection.handshake;
    if (role === 'worker') {
      const setup = this.connectionSetup<ToWorker>(connection, ref);
      return dialect === 'full' ? new WorkerConnection(setup) : new MinimalWorkerConnection(setup, host);
    }
    const setup = this.connectionSetup<ToClient>(connection, ref);
    return dialect === 'full' ? new ClientConnection(setup) : new MinimalClientConnection(setup, host);
  }

  /** One bucket for all connections of an identity. Identities are those of the key file. */
  private takeSubmitsOf(identityName: string): ((jobs: number) => boolean) | undefined {
    const { submitRate, host } = this.setup;
    if (!Number.isFinite(submitRate.perSecond)) return undefined;
    const known = this.quotas.get(identityName);
    const quota = known ?? new SubmitQuota(submitRate.perSecond, submitRate.burst, host.now());
    if (known === undefined) this.quotas.set(identityName, quota);
    return (jobs) => quota.take(host.now(), jobs);
  }

  private connectionSetup<Out>(
    connection: Connection,
    ref: ActorRef<typeof SessionActor>,
  ): ConnectionSetup<Out> {
    const { system, leader, messageLimits, waitingBytesMax, compress, payloads } = this.setup;
    const streams = connection.handshake.dialect === 'full';
    const { identityName, creditMax } = connection.handshake;
    const access = accessOf(connection.handshake, this.takeSubmitsOf(identityName));
    const port = (): PeerPort<Out> => ({
      ref,
      access,
      creditMax,
      streams,
      offer: (message) => ref.offer.deliver(message),
      endSlowReader: () => connection.destroy({ kind: 'slow-reader' }),
    });
    const onClosed = (): void => void system.stop(ref);
    return { connection, leader, messageLimits, waitingBytesMax, compress, payloads, port, onClosed };
  }
}
