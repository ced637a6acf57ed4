import { type ActorRef, type ActorSystem, createSystem, nodeHost } from '@troupe/core';
import { nodeNet } from '@troupe/transport';
import { type PulseSeat, takePulseSeat } from '../heartbeat/node-heartbeat.js';
import { checkOptions, flag, withDefaults } from '../option-check.js';
import type { ToWorker, WorkerHello, WorkerMessage } from '../protocol/worker-messages.js';
import { encodeWorker, encodeWorkerHello, readToWorker } from '../wire/worker-codec.js';
import type { HandledJob } from '../worker/handler.js';
import type { LoadMeter } from '../worker/load-meter.js';
import { nodeLoad } from '../worker/node-load.js';
import { WorkerActor } from '../worker/worker-actor.js';
import {
  type AttemptFailure,
  DEFAULT_WORKER_SETTINGS,
  WORKER_CHECKS,
  type WorkerSettings,
} from '../worker/worker-options.js';
import { DIAL_CHECKS, type DialOptions } from './dial-options.js';
import { LeaderLink, type LinkCodec } from './leader-connection.js';

export interface StartWorkerOptions extends DialOptions, Partial<WorkerSettings> {
  /** Stays over restarts: the leader knows by it that an earlier process is gone. One worker at a time under one name. */
  readonly name: string;
  readonly handlers: readonly HandledJob[];
  /**
   * A thread of its own tells the leader that this process lives while a handler holds the event loop (ADR 0057). On unless false, or
   * unless the clock or the network are not the real ones.
   */
  readonly pulse?: boolean;
  /** Told of every attempt that failed here, for a log. */
  readonly onFailure?: (failure: AttemptFailure) => void;
}

const KNOWN = { ...DIAL_CHECKS, ...WORKER_CHECKS, pulse: flag };

/** Runs handlers for a leader elsewhere. Resolves with the first session; from then on it comes back by itself after every loss. */
export async function startWorker(options: StartWorkerOptions): Promise<RemoteWorker> {
  checkOptions('startWorker', options, KNOWN, ['address', 'name', 'handlers']);
  const { name, handlers, onFailure, host = nodeHost } = options;
  const system = createSystem({ name: 'worker', host });
  const ends: { ref?: ActorRef<typeof WorkerActor> } = {};
  const voice = voiceOf(options);
  const link = new LeaderLink(options, name, voice.codec, {
    onUp: () => ends.ref?.tell.reconnect(),
    onDown: () => ends.ref?.tell.lost(),
  });
  ends.ref = system.spawn(WorkerActor, {
    worker: name,
    handlers,
    settings: settingsOf(options),
    load: sharedLoad(),
    onFailure,
    host,
    leader: {
      helloWorker: ({ hello, port }) => voice.greet(() => link.open(hello, port)),
      fromWorker: ({ message, port }) => link.send(message, port),
    },
  });
  const worker = new RemoteWorker(system, ends.ref, () => {
    voice.seat?.leave();
    link.close();
  });
  try {
    await link.ready();
  } catch (error) {
    await worker.close({ withinMs: 0 });
    throw error;
  }
  return worker;
}

export class RemoteWorker implements AsyncDisposable {
  private readonly system: ActorSystem;
  private readonly ref: ActorRef<typeof WorkerActor>;
  private readonly hangUp: () => void;
  private closing: Promise<void> | undefined = undefined;

  constructor(system: ActorSystem, ref: ActorRef<typeof WorkerActor>, hangUp: () => void) {
    this.system = system;
    this.ref = ref;
    this.hangUp = hangUp;
  }

  /** Attempts in hand. */
  running(): Promise<number> {
    return this.system.ask(this.ref).running();
  }

  /** Takes nothing more, waits for what runs, gives the rest back uncounted after `withinMs`, then hangs up. */
  close(options: { readonly withinMs?: number } = {}): Promise<void> {
    this.closing ??= this.shutDown(options.withinMs ?? 10_000);
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async shutDown(withinMs: number): Promise<void> {
    await this.system.ask(this.ref, { withinMs: withinMs + 5_000 }).drain(withinMs);
    this.hangUp();
    await this.system.shutdown();
  }
}

interface Voice {
  readonly codec: LinkCodec<WorkerHello, WorkerMessage, ToWorker>;
  readonly seat: PulseSeat | undefined;
  /** Says hello once the pulse is awake; only the last hello that was meant to be said by then is. */
  readonly greet: (open: () => void) => void;
}

/** How a worker speaks, and what speaks for it while it cannot: every session that begins is shown to its pulse. */
function voiceOf(options: StartWorkerOptions): Voice {
  const { address, auth, tls, transportLimits, pulse = true, host, net } = options;
  const isReal = host === undefined && net === undefined;
  const seat = pulse && isReal ? takePulseSeat() : undefined;
  const token = seat === undefined ? '' : Buffer.from(nodeNet.secureRandom(16)).toString('hex');
  const dial = {
    address,
    ...(auth === undefined ? {} : { auth }),
    ...(tls === undefined ? {} : { tls }),
    ...(transportLimits === undefined ? {} : { transportLimits }),
  };
  let said: WorkerHello | undefined;
  const codec: Voice['codec'] = {
    role: 'worker',
    hello: (hello, out, emit) => {
      said = hello;
      encodeWorkerHello(seat === undefined ? hello : { ...hello, pulse: token }, out, emit);
    },
    message: encodeWorker,
    answer: (type, from) => {
      const answer = readToWorker(type, from);
      if (answer?.kind === 'welcome' && said !== undefined) {
        const { worker, incarnation } = said;
        seat?.watch({ dial, hello: { worker, incarnation, token }, beatMs: answer.beatMs });
      }
      return answer;
    },
  };
  let latest: (() => void) | undefined;
  const greet = (open: () => void): void => {
    if (seat === undefined) return open();
    latest = open;
    seat.whenAwake(() => {
      if (latest === open) open();
    });
  };
  return { codec, seat, greet };
}

let load: LoadMeter | undefined;

/** All workers of a process are as busy as the process. */
function sharedLoad(): LoadMeter {
  load ??= nodeLoad();
  return load;
}

function settingsOf(options: StartWorkerOptions): WorkerSettings {
  const { slots, bytesMax, cpuCap, withholdMsMax, patterns } = withDefaults(DEFAULT_WORKER_SETTINGS, options);
  return { slots, bytesMax, cpuCap, withholdMsMax, patterns };
}
