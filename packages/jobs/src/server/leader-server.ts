import { type ActorRef, type ActorSystem, createSystem, type Host, nodeHost } from '@troupe/core';
import {
  type Address,
  type Compression,
  type IdentityStore,
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
import type { WalOptions } from '@troupe/wal';
import { JobDefinitionError } from '../jobs-error.js';
import type { OpenJournal } from '../journal/journal.js';
import { walJournal } from '../journal/wal-journal.js';
import type { JobsObserver } from '../leader/jobs-event.js';
import { LeaderActor } from '../leader/leader-actor.js';
import { LEADER_CHECKS } from '../leader/leader-checks.js';
import type { LeaderLimits, LeaderTimes } from '../leader/leader-limits.js';
import { anObject, type Check, checkOptions, flag, isFunction, oneOf } from '../option-check.js';
import type { LeaderOverview } from '../protocol/client-messages.js';
import { rootCause } from '../root-cause.js';
import { SessionsActor, type SpawnSession } from './session-actor.js';
import { LeaderDoor } from './session-factory.js';

/** What one peer may have waiting here beside the outbox of its connection, which is as large (ADR 0120). */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

const NO_AUTH: ListenerAuth = { kind: 'none' };

/** What may stand around a payload: numbers and a key. */
const FRAMING_BYTES = 64 * 1024;

export interface LeaderServerOptions {
  /** The folder of the log. */
  readonly dir?: string;
  /** Another log in place of the folder. */
  readonly journal?: OpenJournal;
  /** 127.0.0.1 and a free port, unless given. */
  readonly address?: Address;
  readonly profile?: Profile;
  readonly auth?: ListenerAuth;
  readonly tls?: ListenTls;
  readonly insecure?: boolean;
  readonly compress?: Compression;
  readonly limits?: Partial<LeaderLimits>;
  readonly times?: Partial<LeaderTimes>;
  readonly transportLimits?: Partial<TransportLimits>;
  readonly wal?: Omit<WalOptions, 'dir' | 'storage' | 'onFatal'>;
  /** The log failed, or the leader did: nothing more is acknowledged. The process should end. */
  readonly onFatal: (error: Error) => void;
  readonly observe?: JobsObserver;
  readonly onEvent?: (event: ListenerEvent) => void;
  readonly host?: Host;
  readonly net?: Net;
}

/** What a running leader can be given anew. */
export interface LeaderRenewal {
  /** Who may do what. Sessions whose key or certificate is no longer in it, or has other rights now, end. */
  readonly identities?: IdentityStore;
  /** For connections from now on. */
  readonly tls?: ListenTls;
}

const KNOWN = {
  ...LEADER_CHECKS,
  address: anObject,
  profile: oneOf('trusted', 'public'),
  auth: anObject,
  tls: anObject,
  insecure: flag,
  compress: oneOf('gzip', 'brotli'),
  transportLimits: anObject,
  onEvent: isFunction,
  net: anObject,
} satisfies Readonly<Record<keyof LeaderServerOptions, Check>>;

/** Opens the log, reads it to its end, and only then listens (B10). */
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

/** A leader that clients and workers reach over sockets. */
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
    const { limits, times, observe, onFatal } = options;
    // The leader is never restarted in place: what it knows must come from the disk. A session that fails ends alone.
    this.system = createSystem({
      name: 'leader',
      host: this.host,
      supervise: { decide: () => 'escalate' },
    });
    const openJournal = options.journal ?? walJournal({ ...options.wal, dir: options.dir, onFatal });
    this.leader = this.system.spawn(
      LeaderActor,
      {
        host: this.host,
        openJournal,
        onFatal,
        ...(limits === undefined ? {} : { limits }),
        ...(times === undefined ? {} : { times }),
        ...(observe === undefined ? {} : { observe }),
      },
      { name: 'leader' },
    );
    void this.system.whenStopped.then((report) => {
      // Before it listens, whoever starts it is told by the rejected promise.
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
      this.system.spawn(SessionsActor, { onReady }, { name: 'sessions' });
      // A leader that cannot start takes the system with it, perhaps before this actor has begun.
      void this.system.whenStopped.then(() => resolve());
    });
    await this.overview();
  }

  async listen(): Promise<void> {
    const payloads = await this.system.ask(this.leader).payloads();
    const { address, profile, auth, tls, insecure, onEvent, net = nodeNet, transportLimits } = this.options;
    const door = new LeaderDoor({
      system: this.system,
      spawn: this.spawnSession as SpawnSession,
      leader: this.leader.tell,
      host: this.host,
      bodyBytesMax: this.options.limits?.payloadBytesMax ?? 256 * 1024 * 1024,
      waitingBytesMax: WAITING_BYTES_MAX,
      compress: this.options.compress,
      payloads,
    });
    return new Promise((resolve, reject) => {
      this.listener = new Listener({
        net,
        clock: this.host,
        ...(address === undefined ? {} : { address }),
        ...(profile === undefined ? {} : { profile }),
        ...(auth === undefined ? {} : { auth }),
        ...(tls === undefined ? {} : { tls }),
        ...(insecure === undefined ? {} : { insecure }),
        limits: { ...this.bodyLimit(), ...transportLimits },
        onConnection: door.admit,
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

  /** A payload that the leader would take must not fail at the door. */
  private bodyLimit(): Partial<TransportLimits> {
    const payloadBytesMax = this.options.limits?.payloadBytesMax ?? 0;
    const isTight = payloadBytesMax + FRAMING_BYTES > transportLimits('public').bodyBytesMax;
    return isTight ? { bodyBytesMax: transportLimits('trusted').bodyBytesMax } : {};
  }

  /** Where it listens. */
  get address(): Address {
    return this.bound as Address;
  }

  get connections(): number {
    return this.listener?.connections ?? 0;
  }

  /** Takes other keys and certificates, without a restart. One that cannot be used changes nothing. */
  renew(renewal: LeaderRenewal): void {
    checkOptions('renew', renewal, { identities: anObject, tls: anObject });
    const { identities, tls } = renewal;
    if (tls !== undefined && this.options.tls === undefined)
      throw new JobDefinitionError('renew', 'this leader was started without TLS');
    if (identities !== undefined && (this.options.auth ?? NO_AUTH).kind === 'none')
      throw new JobDefinitionError('renew', 'this leader was started without keys');
    // The certificate first: it may be refused.
    if (tls !== undefined) this.listener?.renewTls(tls);
    if (identities !== undefined) this.listener?.renewIdentities(identities);
  }

  overview(): Promise<LeaderOverview> {
    return this.system.ask(this.leader, { withinMs: 600_000 }).overview();
  }

  /**
   * Refuses new work, tells every peer, waits up to `withinMs` for what runs, makes everything durable, lets go of the folder. What still
   * runs then stays leased on the disk: its worker may claim it after a restart.
   */
  close(options: { readonly withinMs?: number } = {}): Promise<void> {
    this.closing ??= this.shutDown(options.withinMs ?? 5_000);
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Before it ever served. Resolves with what made it fail, where the runtime knows. */
  async abandon(): Promise<Error | undefined> {
    this.closing ??= Promise.resolve();
    await new Promise<void>((resolve) => {
      if (this.listener === undefined) resolve();
      else this.listener.close(resolve);
    });
    return (await this.system.shutdown()).cause;
  }

  private async shutDown(withinMs: number): Promise<void> {
    this.leader.tell.quiesce();
    await this.idle(withinMs);
    const closed = this.system.ask(this.leader, { withinMs: 60_000 }).close();
    const error = await closed;
    await new Promise<void>((resolve) => this.listener?.drain(100, resolve) ?? resolve());
    await this.system.shutdown();
    if (error instanceof Error) throw error;
  }

  /** Until nothing runs any more, or the time is over. */
  private async idle(withinMs: number): Promise<void> {
    const until = this.host.now() + withinMs;
    while (this.host.now() < until) {
      const { counts } = await this.overview();
      if (counts.running === 0) return;
      await new Promise<void>((resolve) => this.host.setTimer(20, resolve));
    }
  }
}
