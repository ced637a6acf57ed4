import { type ActorRef, type ActorSystem, type Host, nodeHost } from '@troupe/core';
import { callback, flag, type OptionRule, object, oneOf } from '@troupe/core/option-check';
import {
  type Address,
  type Compression,
  type IdentityStore,
  isLocal,
  Listener,
  type ListenerAuth,
  type ListenerEvent,
  type ListenTls,
  type Net,
  nodeNet,
  type Profile,
  type TransportLimits,
  transportLimits,
} from '@troupe/transport';
import { JobDefinitionError } from '../jobs-error.js';
import type { LeaderActor } from '../leader/leader-actor.js';
import { DEFAULT_LEADER_LIMITS, RECORD_BYTES_MAX } from '../leader/options/leader-limits.js';
import { LEADER_OPTION_RULES } from '../leader/options/leader-option-rules.js';
import { routePeerMessages } from '../leader/route-peer-messages.js';
import { type LeaderStartOptions, spawnLeader } from '../leader/spawn-leader.js';
import { checkOptions, withDefaults } from '../option-check.js';
import type { LeaderOverview } from '../protocol/admin-messages.js';
import { rootCause } from '../root-cause.js';
import { type MessageLimits, PLAIN_MESSAGE_BYTES_MAX } from '../wire/message-limits.js';
import { SessionsActor, type SpawnSession } from './session-actor.js';
import { SessionFactory } from './session-factory.js';

/** Bytes that may wait for one peer, besides the outbox of its connection, which is as large (ADR 0416). */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

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
}: LeaderServerOptions): TransportLimits {
  const isTrusted = address === undefined || isLocal(address);
  return transportLimits(profile ?? (isTrusted ? 'trusted' : 'public'), changes);
}

/** Opens the log, reads it to its end, and only then listens. */
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
  private spawnSession: SpawnSession | undefined = undefined;
  private listener: Listener | undefined = undefined;
  private bound: Address | undefined = undefined;
  private closing: Promise<void> | undefined = undefined;

  constructor(options: LeaderServerOptions) {
    this.options = options;
    this.host = options.host ?? nodeHost;
    const { onFatal } = options;
    ({ system: this.system, leader: this.leader } = spawnLeader('leader', options, this.host, onFatal));
    void this.system.whenStopped.then((report) => {
      // Before it listens, the promise of `startLeader` rejects.
      const isServing = this.bound !== undefined && this.closing === undefined;
      if (report.cause !== undefined && isServing) onFatal(rootCause(report.cause) as Error);
    });
  }

  async recover(): Promise<void> {
    await new Promise<void>((resolve) => {
      const onReady = (spawn: SpawnSession): void => {
        this.spawnSession = spawn;
        resolve();
      };
      this.system.spawn(SessionsActor, { args: { onReady }, name: 'sessions' });
      // A leader that cannot start ends the system, perhaps before this actor has started.
      void this.system.whenStopped.then(() => resolve());
    });
    await this.overview();
  }

  async listen(): Promise<void> {
    const payloads = await this.system.ask(this.leader).payloads();
    const { address, profile, auth, tls, insecure, onEvent, net = nodeNet } = this.options;
    const rates = transportLimitsOf(this.options);
    const sessions = new SessionFactory({
      system: this.system,
      spawn: this.spawnSession as SpawnSession,
      leader: routePeerMessages(this.leader.tell),
      host: this.host,
      messageLimits: this.messageLimits(),
      submitRate: { perSecond: rates.submitsPerSecond, burst: rates.submitsBurst },
      waitingBytesMax: WAITING_BYTES_MAX,
      compress: this.options.compress,
      payloads,
    });
    return new Promise((resolve, reject) => {
      this.listener = new Listener({
        net,
        clock: this.host,
        address,
        profile,
        auth,
        tls,
        insecure,
        limits: { bodyBytesMax: this.messageLimits().payloadBytesMax, ...this.options.transportLimits },
        onConnection: sessions.create,
        onListening: (at) => {
          this.bound = at;
          resolve();
        },
        onEvent: (event) => {
          if (event.kind === 'failed') reject(event.error);
          onEvent?.(event);
        },
      });
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

  /** Sessions of clients and workers. */
  get connections(): number {
    return this.listener?.connections ?? 0;
  }

  /** Replaces keys and certificates without a restart. One that cannot be used changes nothing. */
  renew(renewal: LeaderRenewal): void {
    checkOptions('renew', renewal, { identities: object, tls: object });
    const { identities, tls } = renewal;
    if (tls !== undefined && this.options.tls === undefined)
      throw new JobDefinitionError('renew', 'this leader was started without TLS');
    if (identities !== undefined && (this.options.auth ?? NO_AUTH).kind === 'none')
      throw new JobDefinitionError('renew', 'this leader was started without keys');
    // The certificate first: it may be refused.
    if (tls !== undefined) this.listener?.renewTls(tls);
    if (identities !== undefined) this.listener?.renewIdentities(identities);
  }

  /** Counts, tables, quotas, workers and the log, as of now. */
  overview(): Promise<LeaderOverview> {
    return this.system.ask(this.leader, { withinMs: 600_000 }).overview();
  }

  /**
   * Refuses new work, announces the drain to every peer, waits up to `withinMs` for running jobs, makes
   * everything durable, releases the folder. Jobs that still run then stay leased on the disk: their workers
   * may claim them after a restart.
   */
  close(options: { readonly withinMs?: number | undefined } = {}): Promise<void> {
    this.closing ??= this.shutDown(options.withinMs ?? 5_000);
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For a server that never listened. Resolves with the cause of its failure where the runtime knows it. */
  async abandon(): Promise<Error | undefined> {
    this.closing ??= Promise.resolve();
    await new Promise<void>((resolve) => {
      if (this.listener === undefined) resolve();
      else this.listener.close(resolve);
    });
    return (await this.system.shutdown()).cause;
  }

  private async shutDown(withinMs: number): Promise<void> {
    this.leader.tell.drain();
    await this.idle(withinMs);
    const closed = this.system.ask(this.leader, { withinMs: 60_000 }).close();
    const error = await closed;
    await new Promise<void>((resolve) => this.listener?.drain(100, resolve) ?? resolve());
    await this.system.shutdown();
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
