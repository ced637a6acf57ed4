import { type ActorRef, type ActorSystem, type Host, nodeHost } from '@troupe/core';
import { object } from '@troupe/core/option-check';
import type { Client } from '../client/client.js';
import { endWithSystem, spawnClient } from '../client/client-actor.js';
import type { ClientTracing } from '../client/client-tracing.js';
import type { LeaderActor } from '../leader/leader-actor.js';
import { LEADER_OPTION_RULES } from '../leader/options/leader-option-rules.js';
import { routePeerMessages } from '../leader/route-peer-messages.js';
import { type LeaderStartOptions, spawnLeader } from '../leader/spawn-leader.js';
import { checkOptions, type Defaulted, plainName, withDefaults } from '../option-check.js';
import type { LeaderOverview } from '../protocol/client/admin-messages.js';
import { rootCause } from '../root-cause.js';
import { nodeLoadMeter } from '../worker/credit/node-load-meter.js';
import type { HandledJob } from '../worker/handlers/handler.js';
import type { NodeHandlerThreads } from '../worker/threads/node-handler-threads.js';
import { type GivenHandlers, placeHandlers, replaceHandlers } from '../worker/threads/thread-options.js';
import { WorkerActor } from '../worker/worker-actor.js';
import {
  type AttemptFailure,
  defaultWorkerSettings,
  type StaleAttempt,
  WORKER_CHECKS,
  type WorkerSettings,
} from '../worker/worker-options.js';
import type { WorkerTracing } from '../worker/worker-tracing.js';
import { WorkerClientSupervisor } from './worker-client-supervisor.js';

export interface EmbeddedOptions extends LeaderStartOptions {
  /** Called first when the log fails. The process then exits with 74: its state may not be on the disk. */
  readonly onFatal?: ((error: Error) => void) | undefined;
  /** Clock, chance and log. Default: this Node process. */
  readonly host?: Host | undefined;
}

export interface EmbeddedClientOptions {
  /** The submitter's name. Default `app`. */
  readonly name?: string | undefined;
  /** Traces its submits: `...jobTelemetry().client` of @troupe/middleware. Default: none are traced. */
  readonly tracing?: ClientTracing | undefined;
}

export interface EmbeddedWorkerOptions extends Defaulted<WorkerSettings>, GivenHandlers {
  /** The same over restarts: by it the leader sees that an earlier process is gone. Default `embedded`. */
  readonly name?: string | undefined;
  /** Called for every attempt that failed here, for a log. */
  readonly onFailure?: ((failure: AttemptFailure) => void) | undefined;
  /** Called for every result that came too late, or again after a lost connection, for a log. */
  readonly onStale?: ((attempt: StaleAttempt) => void) | undefined;
  /** Traces its attempts: `...jobTelemetry().worker` of @troupe/middleware. Default: none are traced. */
  readonly tracing?: WorkerTracing | undefined;
}

export interface EmbeddedWorker {
  /** Resolves when it takes jobs; rejects if its threads cannot import the module of the handlers. */
  ready(): Promise<void>;
  /** Takes nothing more, waits for running attempts, releases the rest uncounted at the deadline. */
  drain(options?: { readonly withinMs?: number | undefined }): Promise<void>;
  /**
   * Runs other handlers from now on; attempts under way keep theirs. A warm runner is recycled if one of its
   * handlers is another value than before.
   */
  replaceHandlers(handlers: readonly HandledJob[]): void;
}

/**
 * Leader, workers and clients in this process: the same code and the same files as over the network, and no
 * port.
 */
export async function embedded(options: EmbeddedOptions): Promise<EmbeddedJobs> {
  checkOptions('embedded', options, LEADER_OPTION_RULES);
  const host = options.host ?? nodeHost;
  const jobs = new EmbeddedJobs(options, host);
  await jobs.ready();
  return jobs;
}

export class EmbeddedJobs implements AsyncDisposable {
  private readonly system: ActorSystem;
  private readonly host: Host;
  private readonly leader: ActorRef<typeof LeaderActor>;
  private spawn: ActorSystem['spawn'] | undefined = undefined;
  private readonly workers = new Map<ActorRef<typeof WorkerActor>, NodeHandlerThreads | undefined>();
  private workersStarted = 0;
  private tag = '';
  private closing: Promise<void> | undefined;

  constructor(options: EmbeddedOptions, host: Host) {
    this.host = host;
    const onFatal = options.onFatal ?? (() => undefined);
    ({ system: this.system, leader: this.leader } = spawnLeader('jobs', options, host, onFatal));
    void this.system.whenStopped.then((report) => {
      if (report.cause !== undefined && this.closing === undefined) onFatal(report.cause);
    });
  }

  /** Resolves after recovery; rejects with its cause of failure. */
  async ready(): Promise<void> {
    try {
      ({ tag: this.tag } = await this.overview());
      await new Promise<void>((resolve) => {
        const onReady = (spawn: ActorSystem['spawn']): void => {
          this.spawn = spawn;
          resolve();
        };
        this.system.spawn(WorkerClientSupervisor, { args: { onReady }, name: 'roles' });
      });
    } catch (error) {
      this.closing = Promise.resolve();
      const report = await this.system.shutdown();
      throw rootCause(report.cause ?? error);
    }
  }

  /** A client in this process. */
  client(options: EmbeddedClientOptions = {}): Client {
    checkOptions('client', options, { name: plainName(100), tracing: object });
    const { client, end } = spawnClient(this.spawn as ActorSystem['spawn'], {
      name: options.name ?? 'app',
      tree: () => this.tree(),
      tag: this.tag,
      tracing: options.tracing,
      host: this.host,
      leader: routePeerMessages(this.leader.tell),
    });
    endWithSystem(this.system, end);
    return client;
  }

  /** A worker in this process. */
  worker(options: EmbeddedWorkerOptions): EmbeddedWorker {
    checkOptions('worker', options, WORKER_CHECKS, ['handlers']);
    const { name = 'embedded', handlers: given, threads: wanted, ...others } = options;
    const { onFailure, onStale, tracing, ...settings } = others;
    const worker = this.workersStarted === 0 ? name : `${name}-${this.workersStarted + 1}`;
    const handlersGiven = { handlers: given, threads: wanted };
    const placement = placeHandlers('worker', handlersGiven, worker, this.host);
    const { handlers, threads } = placement;
    const spawn = this.spawn as ActorSystem['spawn'];
    const ref = spawn(WorkerActor, {
      args: {
        worker,
        handlers,
        threads,
        // The handlers share this process with the leader: work withheld would delay acknowledgements too.
        settings: withDefaults({ ...defaultWorkerSettings(threads?.count), cpuCap: 1 }, settings),
        load: nodeLoadMeter(),
        onFailure,
        onStale,
        tracing,
        host: this.host,
        leader: routePeerMessages(this.leader.tell),
      },
    });
    this.workersStarted += 1;
    this.workers.set(ref, threads);
    return {
      ready: async () => {
        await threads?.ready();
      },
      drain: async ({ withinMs = 10_000 } = {}) => {
        await this.drainWorker(ref, withinMs);
      },
      replaceHandlers: (next) => {
        replaceHandlers(placement, next);
        ref.tell.handlersReplaced();
      },
    };
  }

  /** All actors as text, for an operator. */
  tree(): string {
    return this.system.tree();
  }

  /** Counts, tables, quotas, workers and the log, as of now. */
  overview(): Promise<LeaderOverview> {
    return this.system.ask(this.leader, { withinMs: 600_000 }).overview();
  }

  /** Refuses new work, drains the workers, makes everything durable, then releases the folder. */
  close(options: { readonly withinMs?: number | undefined } = {}): Promise<void> {
    this.closing ??= this.shutDown(options.withinMs ?? 10_000);
    return this.closing;
  }

  /**
   * Releases the folder without draining, as if the process had been killed after its last acknowledgement.
   */
  async abandon(): Promise<void> {
    this.workers.clear();
    await this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async shutDown(withinMs: number): Promise<void> {
    try {
      this.leader.tell.drain();
      await Promise.all([...this.workers.keys()].map((ref) => this.drainWorker(ref, withinMs)));
      const error = await this.system.ask(this.leader, { withinMs: 60_000 }).close();
      if (error instanceof Error) throw error;
    } finally {
      await this.system.shutdown();
    }
  }

  private async drainWorker(ref: ActorRef<typeof WorkerActor>, withinMs: number): Promise<void> {
    const threads = this.workers.get(ref);
    if (!this.workers.delete(ref)) return;
    await this.system.ask(ref, { withinMs: withinMs + 5_000 }).drain(withinMs);
    await this.system.stop(ref);
    await threads?.closed();
  }
}
