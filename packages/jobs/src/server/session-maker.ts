import type { Host } from '@troupe/core';
import { type HandshakeResult, type MakeSession, SubmitQuota } from '@troupe/transport';
import type { PeerAccess } from '../protocol/leader-interface.js';
import { accessOf } from './authenticated-peer.js';
import { ClientSessionActor } from './full/client-session-actor.js';
import { WorkerSessionActor } from './full/worker-session-actor.js';
import { MinimalClientSessionActor } from './minimal/minimal-client-session.js';
import { MinimalWorkerSessionActor } from './minimal/minimal-worker-session.js';
import type { SessionSetup } from './session-setup.js';

export interface SessionMakerSetup extends Omit<SessionSetup, 'connection' | 'access'> {
  readonly host: Host;
  /** Jobs that one identity may submit. */
  readonly submitRate: { readonly perSecond: number; readonly burst: number };
}

/** Makes the session of every connection of a leader, by its role and dialect. */
export class SessionMaker {
  private readonly setup: SessionMakerSetup;
  private readonly quotas = new Map<string, SubmitQuota>();

  constructor(setup: SessionMakerSetup) {
    this.setup = setup;
  }

  readonly make: MakeSession = (connection, spawn) => {
    const { leader, messageLimits, compress, payloads } = this.setup;
    const { dialect, role } = connection.handshake;
    const access = this.accessOf(connection.handshake);
    const args: SessionSetup = { connection, leader, messageLimits, compress, payloads, access };
    if (role === 'worker')
      return dialect === 'full'
        ? spawn(WorkerSessionActor, { args })
        : spawn(MinimalWorkerSessionActor, { args });
    return dialect === 'full'
      ? spawn(ClientSessionActor, { args })
      : spawn(MinimalClientSessionActor, { args });
  };

  private accessOf(handshake: HandshakeResult): PeerAccess | undefined {
    return accessOf(handshake, this.takeSubmitsOf(handshake.identityName));
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
}
