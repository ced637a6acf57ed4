import { type ActorRef, type ActorSystem, createSystem, nodeHost } from '@troupe/core';
import { callback, flag } from '@troupe/core/option-check';
import { nodeNet } from '@troupe/transport';
import { WorkerHeartbeat } from '../heartbeat/worker-heartbeat.js';
import { checkOptions, type Defaulted, withDefaults } from '../option-check.js';
import { type ActorsView, viewActors } from '../protocol/client/actors-view.js';
import type { ToWorker, WorkerHello, WorkerMessage } from '../protocol/worker/worker-messages.js';
import { encodeWorker, encodeWorkerHello, readToWorker } from '../wire/worker/worker-codec.js';
import type { LoadMeter } from '../worker/credit/load-meter.js';
import { nodeLoadMeter } from '../worker/credit/node-load-meter.js';
import type { HandledJob } from '../worker/handlers/handler.js';
import {
  type GivenHandlers,
  type HandlerPlacement,
  placeHandlers,
  replaceHandlers,
} from '../worker/threads/thread-options.js';
import { WorkerActor } from '../worker/worker-actor.js';
import {
  type AttemptFailure,
  defaultWorkerSettings,
  type StaleAttempt,
  WORKER_CHECKS,
  type WorkerSettings,
} from '../worker/worker-options.js';
import type { WorkerTracing } from '../worker/worker-tracing.js';
import { DIAL_CHECKS, type DialOptions } from './dial-options.js';
import { LeaderConnection } from './leader-connection.js';
import type { RoleCodec } from './leader-session.js';

export interface StartWorkerOptions extends DialOptions, Defaulted<WorkerSettings>, GivenHandlers {
  /**
   * The same over restarts: by it the leader sees that an earlier process is gone. One worker at a time has a
   * name.
   */
  readonly name: string;
  /**
   * A thread of its own reports to the leader that this process is alive while a handler blocks the event
   * loop (ADR 0404). It always uses the clock and the network of Node. Default: true with these, false with
   * others and with `threads`, where no handler blocks this loop.
   */
  readonly heartbeatThread?: boolean | undefined;
  /** Called for every attempt that failed here, for a log. */
  readonly onFailure?: ((failure: AttemptFailure) => void) | undefined;
  /** Called when the leader has refused this worker for good: it gets no further job. Close it. */
  readonly onRefused?: ((error: Error) => void) | undefined;
  /** Called for every result that came too late, or again after a lost connection, for a log. */
  readonly onStale?: ((attempt: StaleAttempt) => void) | undefined;
  /** Traces its attempts: `...jobTelemetry().worker` of @troupe/middleware. Default: none are traced. */
  readonly tracing?: WorkerTracing | undefined;
}

export const WORKER_START_CHECKS = {
  ...DIAL_CHECKS,
  ...WORKER_CHECKS,
  heartbeatThread: flag,
  onRefused: callback,
};

/**
 * Runs handlers for a leader elsewhere. Resolves with the first session; from then on it reconnects by
 * itself.
 */
export async function startWorker(options: StartWorkerOptions): Promise<RemoteWorker> {
  checkOptions('startWorker', options, WORKER_START_CHECKS, ['address', 'name', 'handlers']);
  const { name, onFailure, onStale, tracing, host = nodeHost } = options;
  const placement = placeHandlers('startWorker', options, name, host);
  const { handlers, threads } = placement;
  const settings = settingsOf(options, threads?.count);
  const system = createSystem({ name: 'worker', host, middleware: options.middleware });
  const actor: { ref?: ActorRef<typeof WorkerActor> } = {};
  const heartbeat = heartbeatOf(options);
  const connection = new LeaderConnection(system, options, name, codecOf(heartbeat), {
    onUp: () => actor.ref?.tell.connected(),
    onDown: () => actor.ref?.tell.connectionLost(),
    onRefused: (error) => options.onRefused?.(error),
  });
  actor.ref = system.spawn(WorkerActor, {
    args: {
      worker: name,
      handlers,
      threads,
      settings,
      load: sharedLoad(),
      onFailure,
      onStale,
      tracing,
      host,
      leader: {
        helloWorker: ({ hello, port }) => {
          const open = (): void => connection.open(hello, port);
          if (heartbeat === undefined) open();
          else heartbeat.whenReady(open);
        },
        fromWorker: ({ message, port }) => connection.write(message, port),
      },
    },
    name: 'worker',
  });
  const { ref } = actor;
  const worker = (): RemoteWorker => {
    return new RemoteWorker(system, ref, placement, settings.slots, async () => {
      heartbeat?.close();
      connection.close();
      await threads?.closed();
    });
  };
  try {
    await threads?.ready();
    await connection.ready();
  } catch (error) {
    await worker().close({ withinMs: 0 });
    throw error;
  }
  return worker();
}

export class RemoteWorker implements AsyncDisposable {
  /** Attempts that run at once. */
  readonly slots: number;
  private readonly system: ActorSystem;
  private readonly ref: ActorRef<typeof WorkerActor>;
  private readonly placement: HandlerPlacement;
  private readonly release: () => Promise<void>;
  private closing: Promise<void> | undefined = undefined;

  constructor(
    system: ActorSystem,
    ref: ActorRef<typeof WorkerActor>,
    placement: HandlerPlacement,
    slots: number,
    release: () => Promise<void>,
  ) {
    this.system = system;
    this.ref = ref;
    this.placement = placement;
    this.slots = slots;
    this.release = release;
  }

  /** The names of the jobs that it runs. */
  get execs(): readonly string[] {
    const { handlers, threads } = this.placement;
    return threads?.execs ?? handlers.current.map(({ job }) => job.exec);
  }

  /**
   * Runs other handlers from now on; attempts under way keep theirs. A warm runner is recycled if one of its
   * handlers is another value than before.
   */
  replaceHandlers(handlers: readonly HandledJob[]): void {
    replaceHandlers(this.placement, handlers);
    this.ref.tell.handlersReplaced();
  }

  /** The actors of this worker as text, for an operator. */
  tree(): string {
    return this.system.tree();
  }

  /** The same as data, with the recent messages. */
  actors(): ActorsView {
    return viewActors(this.system);
  }

  /** Attempts that run now. */
  running(): Promise<number> {
    return this.system.ask(this.ref).running();
  }

  /**
   * Takes nothing more, waits for running attempts, releases the rest uncounted after `withinMs`, then
   * disconnects.
   */
  close(options: { readonly withinMs?: number } = {}): Promise<void> {
    this.closing ??= this.shutDown(options.withinMs ?? 10_000);
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async shutDown(withinMs: number): Promise<void> {
    await this.system.ask(this.ref, { withinMs: withinMs + 5_000 }).drain(withinMs);
    await this.release();
    await this.system.shutdown();
  }
}

/** The heartbeat thread has the real clock and the real network: it cannot watch a loop of another time. */
function heartbeatOf(options: StartWorkerOptions): WorkerHeartbeat | undefined {
  const { address, auth, tls, transportLimits, host = nodeHost, net = nodeNet } = options;
  // A host with a log of its own has the same clock and timers.
  const isReal = host.now === nodeHost.now && host.setTimer === nodeHost.setTimer && net === nodeNet;
  const { heartbeatThread = isReal && options.threads === undefined } = options;
  return heartbeatThread ? new WorkerHeartbeat({ address, auth, tls, transportLimits }) : undefined;
}

function codecOf(heartbeat: WorkerHeartbeat | undefined): RoleCodec<WorkerHello, WorkerMessage, ToWorker> {
  if (heartbeat === undefined)
    return { role: 'worker', hello: encodeWorkerHello, message: encodeWorker, answer: readToWorker };
  return {
    role: 'worker',
    hello: (hello, out, emit) => encodeWorkerHello(heartbeat.withToken(hello), out, emit),
    message: encodeWorker,
    answer: (type, from) => {
      const answer = readToWorker(type, from);
      if (answer?.kind === 'welcome') heartbeat.welcomed(answer.heartbeatMs);
      return answer;
    },
  };
}

let load: LoadMeter | undefined;

/** One meter for all workers: it measures the process. */
function sharedLoad(): LoadMeter {
  load ??= nodeLoadMeter();
  return load;
}

function settingsOf(options: StartWorkerOptions, threads: number | undefined): WorkerSettings {
  const defaults = defaultWorkerSettings(threads);
  const { slots, bytesMax, cpuCap, withholdMsMax, patterns, labels } = withDefaults(defaults, options);
  return { slots, bytesMax, cpuCap, withholdMsMax, patterns, labels };
}
