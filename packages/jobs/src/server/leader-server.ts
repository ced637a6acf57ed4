import { type ActorRef, type ActorSystem, type Host, nodeHost } from '@troupe/core';
import { callback, flag, type OptionRule, object, oneOf } from '@troupe/core/option-check';
import {
  type Address,
  type Compression,
  type IdentityStore,
  isLocal,
  type ListenerAuth,
  type ListenerEvent,
  type ListenTls,
  type MakeSession,
  type Net,
  nodeNet,
  type Profile,
  TcpListener,
  type TransportLimits,
  transportLimits,
} from '@troupe/transport';
import { type MessageLimits, PLAIN_MESSAGE_BYTES_MAX } from '../connection/message-limits.js';
import { RECORD_BYTES_MAX } from '../job/definition/job-policy.js';
import { JobDefinitionError } from '../jobs-error.js';
import type { LeaderActor } from '../leader/leader-actor.js';
import {
  DEFAULT_LEADER_LIMITS,
  DEFAULT_LEADER_TIMES,
  type LeaderLimits,
  type LeaderTimes,
} from '../leader/options/leader-limits.js';
import { LEADER_OPTION_RULES } from '../leader/options/leader-option-rules.js';
import { type LeaderStartOptions, spawnLeader } from '../leader/spawn-leader.js';
import { checkOptions, withDefaults } from '../option-check.js';
import type { LeaderOverview } from '../protocol/client/admin-messages.js';
import { rootCause } from '../root-cause.js';
import { offerToLeader } from './offer-to-leader.js';
import { SessionMaker } from './session-maker.js';
import { StandbySessionActor, type WaitingPeers } from './standby-session.js';

/** Peers have so long to read their last answers. */
const CLOSING_GRACE_MS = 100;
/** For running jobs, where no other leader goes on. */
const DRAIN_MS = 5_000;

/** A standby waits for the end of its leader, which may be long: the longest time of a timer. */
const RECOVERY_MS = 2 ** 31 - 1;

const NO_AUTH: ListenerAuth = { kind: 'none' };

/** Numbers and a key beside a payload. */
const FRAMING_BYTES = 64 * 1024;
/** A batch or the results of a report, with numbers and keys. */
const RECORD_MESSAGE_BYTES_MAX = RECORD_BYTES_MAX + 1024 * 1024;

export interface LeaderServerOptions extends LeaderStartOptions {
  /** Where it listens. Default: 127.0.0.1 and a free port. */
  readonly address?: Address | undefined;
  /** Chooses the transport limits. Default: `trusted` on loopback and Unix sockets, `public` elsewhere. */
  readonly profile?: Profile | undefined;
  /** How peers prove their identity. Default: not at all, which only loopback and Unix sockets allow. */
  readonly auth?: ListenerAuth | undefined;
  /** Key and certificate. Default: no TLS, which only loopback and Unix sockets allow. */
  readonly tls?: ListenTls | undefined;
  /** Allows a public address without TLS or authentication, with a warning every minute. Default false. */
  readonly insecure?: boolean | undefined;
  /** Compresses a message where that makes it smaller. Default: not at all. */
  readonly compress?: Compression | undefined;
  /** Limits of the listener, in place of those of the profile. */
  readonly transportLimits?: Partial<TransportLimits> | undefined;
  /** The log failed, or the leader did: nothing more is acknowledged. The process should end. */
  readonly onFatal: (error: Error) => void;
  /** Receives events of the listener. */
  readonly onEvent?: ((event: ListenerEvent) => void) | undefined;
  /** Clock, chance and log. Default: this Node process. */
  readonly host?: Host | undefined;
  /** Sockets. Default: those of Node. */
  readonly net?: Net | undefined;
}

/** Settings that a running leader can be given anew. */
export interface LeaderRenewal {
  /**
   * Identities and their rights. A session whose key or certificate is not in it, or has other rights now,
   * ends.
   */
  readonly identities?: IdentityStore | undefined;
  /** For new connections. */
  readonly tls?: ListenTls | undefined;
}

const KNOWN = {
  ...LEADER_OPTION_RULES,
  address: object,
  profile: oneOf(['trusted', 'public']),
  auth: object,
  tls: object,
  insecure: flag,
  compress: oneOf(['gzip', 'brotli']),
  transportLimits: object,
  onEvent: callback,
  net: object,
} satisfies Readonly<Record<keyof LeaderServerOptions, OptionRule>>;

/** The limits that the listener will have. */
function transportLimitsOf({
  address,
  profile,
  transportLimits: changes,
}: Pick<LeaderServerOptions, 'address' | 'profile' | 'transportLimits'>): TransportLimits {
  const isTrusted = address === undefined || isLocal(address);
  return transportLimits(profile ?? (isTrusted ? 'trusted' : 'public'), changes, 'transportLimits');
}

/** The limits and times that a leader will have. */
export interface LeaderSettings {
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  readonly transportLimits: TransportLimits;
}

/** Checks options as `startLeader` does, and returns all settings with defaults. Starts nothing. */
export function leaderSettings(options: Omit<LeaderServerOptions, 'onFatal'>): LeaderSettings {
  checkOptions('startLeader', options, KNOWN);
  return {
    limits: withDefaults(DEFAULT_LEADER_LIMITS, options.limits),
    times: withDefaults(DEFAULT_LEADER_TIMES, options.times),
    transportLimits: transportLimitsOf(options),
  };
}

/**
 * Opens the log, reads it to its end, and only then takes peers. Where the log has another leader, it listens
 * meanwhile, and its peers learn where that one is.
 */
export async function startLeader(options: LeaderServerOptions): Promise<LeaderServer> {
  checkOptions('startLeader', options, KNOWN, ['onFatal']);
  const server = new LeaderServer(options);
  try {
    await server.recover();
    await server.listen();
  } catch (error) {
    throw rootCause((await server.abandon()) ?? error);
  }
  return server;
}

/** A leader for clients and workers on sockets. */
export class LeaderServer implements AsyncDisposable {
  private readonly options: LeaderServerOptions;
  private readonly host: Host;
  private readonly system: ActorSystem;
  private readonly leader: ActorRef<typeof LeaderActor>;
  private listener: ActorRef<typeof TcpListener> | undefined = undefined;
  private bound: Address | undefined = undefined;
  /** Undefined while it stands by. */
  private sessions: SessionMaker | undefined = undefined;
  /** Undefined while it takes over. */
  private leaderAddress: string | undefined = '';
  private readonly waiting: WaitingPeers = new Set();
  private closing: Promise<void> | undefined = undefined;
  /** It writes nothing more: there is nothing to wait for. */
  private hasFailed = false;

  constructor(options: LeaderServerOptions) {
    this.options = options;
    this.host = options.host ?? nodeHost;
    const onFatal = (error: Error): void => {
      this.hasFailed = true;
      options.onFatal(error);
    };
    const onFollowing = (address: string | undefined): void => this.standBy(address);
    const spawned = spawnLeader('leader', options, this.host, onFatal, onFollowing);
    ({ system: this.system, leader: this.leader } = spawned);
    void this.system.whenStopped.then((report) => {
      // Before it listens, the promise of `startLeader` rejects.
      const isServing = this.bound !== undefined && this.closing === undefined;
      if (report.cause !== undefined && isServing) onFatal(rootCause(report.cause) as Error);
    });
  }

  /** Resolves when the log is read to its end. */
  async recover(): Promise<void> {
    await this.system.ask(this.leader, { withinMs: RECOVERY_MS }).overview();
  }

  /** A standby listens, too: its peers learn where the leader is, and wait while it takes over. */
  private standBy(leaderAddress: string | undefined): void {
    this.leaderAddress = leaderAddress;
    this.listener ??= this.spawnListener();
  }

  async listen(): Promise<void> {
    const payloads = await this.system.ask(this.leader).payloads();
    const rates = transportLimitsOf(this.options);
    this.sessions = new SessionMaker({
      leader: offerToLeader(this.leader),
      host: this.host,
      messageLimits: this.messageLimits(),
      submitRate: { perSecond: rates.submitsPerSecond, burst: rates.submitsBurst },
      compress: this.options.compress,
      payloads,
    });
    for (const serve of this.waiting) serve(this.sessions.make);
    this.waiting.clear();
    this.listener ??= this.spawnListener();
    this.bound = await this.system.ask(this.listener, { withinMs: 60_000 }).address();
  }

  /** An address that cannot be bound is a failure of the listener, which ends the system of this leader. */
  private spawnListener(): ActorRef<typeof TcpListener> {
    const { address, profile, auth, tls, insecure, onEvent, net = nodeNet } = this.options;
    const limits = { bodyBytesMax: this.messageLimits().payloadBytesMax, ...this.options.transportLimits };
    const { host: clock } = this;
    const session: MakeSession = (connection, spawn) => {
      const { sessions, waiting } = this;
      if (sessions !== undefined) return sessions.make(connection, spawn);
      const leaderAddress = (): string | undefined => this.leaderAddress;
      return spawn(StandbySessionActor, { args: { connection, waiting, leaderAddress } });
    };
    return this.system.spawn(TcpListener, {
      args: { net, clock, address, profile, auth, tls, insecure, limits, session, onEvent },
      name: 'listener',
    });
  }

  /** A payload beyond the leader's limit is refused by receipt; a body may hold it with its framing. */
  private messageLimits(): MessageLimits {
    const { payloadBytesMax, messageItemsMax } = withDefaults(DEFAULT_LEADER_LIMITS, this.options.limits);
    return {
      itemsMax: messageItemsMax,
      payloadBytesMax: Math.max(payloadBytesMax + FRAMING_BYTES, RECORD_MESSAGE_BYTES_MAX),
      bytesMax: PLAIN_MESSAGE_BYTES_MAX,
    };
  }

  /** Where it listens. */
  get address(): Address {
    return this.bound as Address;
  }

  /** The actors of this leader as text, for an operator. */
  tree(): string {
    return this.system.tree();
  }

  /** Connections whose handshake is done. */
  async connections(): Promise<number> {
    return this.listener === undefined ? 0 : this.system.ask(this.listener).connections();
  }

  /** Replaces keys and certificates without a restart. One that cannot be used changes nothing. */
  async renew(renewal: LeaderRenewal): Promise<void> {
    checkOptions('renew', renewal, { identities: object, tls: object });
    const { identities, tls } = renewal;
    if (tls !== undefined && this.options.tls === undefined)
      throw new JobDefinitionError('renew', 'this leader was started without TLS');
    if (identities !== undefined && (this.options.auth ?? NO_AUTH).kind === 'none')
      throw new JobDefinitionError('renew', 'this leader was started without keys');
    // The certificate first: it may be refused.
    const { listener } = this;
    if (listener === undefined) return;
    const refused = tls === undefined ? null : await this.system.ask(listener).renewTls(tls);
    if (refused instanceof Error) throw refused;
    if (identities !== undefined) await this.system.ask(listener).renewIdentities(identities);
  }

  /** Counts, tables, quotas, workers and the log, as of now. */
  overview(): Promise<LeaderOverview> {
    return this.system.ask(this.leader, { withinMs: 600_000 }).overview();
  }

  /**
   * Refuses new work, announces the drain to every peer, waits up to `withinMs` for running jobs, makes
   * everything durable, releases the folder. Jobs that still run then stay leased on the disk: their workers
   * may claim them after a restart. Default: 5,000; 0 where the journal hands over to another leader.
   */
  close(options: { readonly withinMs?: number | undefined } = {}): Promise<void> {
    const drainMs = this.options.journal?.handsOver === true ? 0 : DRAIN_MS;
    this.closing ??= this.shutDown(options.withinMs ?? drainMs);
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For a server that never listened. Resolves with the cause of its failure where the runtime knows it. */
  async abandon(): Promise<Error | undefined> {
    this.closing ??= Promise.resolve();
    return (await this.system.shutdown()).cause;
  }

  private async shutDown(withinMs: number): Promise<void> {
    try {
      if (!this.hasFailed) await this.closeInOrder(withinMs);
    } finally {
      await this.system.shutdown();
    }
  }

  private async closeInOrder(withinMs: number): Promise<void> {
    // Without a drain no submit is refused: the next leader takes what has no answer.
    if (withinMs > 0) {
      this.leader.tell.drain();
      await this.idle(withinMs);
    }
    const error = await this.system.ask(this.leader, { withinMs: 60_000 }).close();
    if (this.listener !== undefined)
      await this.system.ask(this.listener, { withinMs: 60_000 }).drain(CLOSING_GRACE_MS);
    if (error instanceof Error) throw error;
  }

  /** Until no job runs, or the time is over. */
  private async idle(withinMs: number): Promise<void> {
    const until = this.host.now() + withinMs;
    while (this.host.now() < until) {
      const { counts } = await this.overview();
      if (counts.running === 0) return;
      await new Promise<void>((resolve) => this.host.setTimer(20, resolve));
    }
  }
}
