import type { PeerPort } from '../protocol/leader-interface.js';
import type { AttemptEnd, ToWorker } from '../protocol/worker/worker-messages.js';
import type { Attempt } from './attempt/attempt.js';
import type { RunnerReport } from './runners/runner-port.js';
import type { HandlerThreadReports } from './threads/handler-threads.js';

/** One kind of the leader's messages, with the session it is for. */
export interface WorkerReceived<Kind extends ToWorker['kind'] = ToWorker['kind']> {
  readonly message: ToWorker & { readonly kind: Kind };
  readonly port: PeerPort<ToWorker>;
}

/**
 * The messages of the leader, as methods: of `tell` they return nothing, of `offer` whether there was room.
 * The names are those of the wire.
 */
export interface LeaderMessagesToWorker<Result = void> {
  welcome(received: WorkerReceived<'welcome'>): Result;
  assign(received: WorkerReceived<'assign'>): Result;
  acknowledged(received: WorkerReceived<'acknowledged'>): Result;
  abort(received: WorkerReceived<'abort'>): Result;
  stale(received: WorkerReceived<'stale'>): Result;
  stream_windows(received: WorkerReceived<'stream_windows'>): Result;
  fed_items(received: WorkerReceived<'fed_items'>): Result;
  refused(received: WorkerReceived<'refused'>): Result;
  heartbeat(received: WorkerReceived<'heartbeat'>): Result;
}

/** An attempt whose handler returned a promise, and its end. */
export interface EndedAttempt {
  readonly attempt: Attempt;
  readonly end: AttemptEnd;
}

/** The messages of a worker: those of the leader, of its threads, of its effects, and of its process. */
export interface WorkerProtocol extends LeaderMessagesToWorker, HandlerThreadReports {
  attemptEnded(ended: EndedAttempt): void;
  runnerReported(report: RunnerReport): void;
  /** Others have taken the place of its handlers. */
  handlersReplaced(): void;
  report(): void;
  tick(): void;
  /** There is a connection: a session may be opened. */
  connected(): void;
  /** The connection is lost: running attempts go on, ends are kept. */
  connectionLost(): void;
  /** Replies when no attempt is held any more, at the latest a second after the deadline. */
  drain(deadlineMs: number): number;
  running(): number;
}

/** Each message of the leader goes to the handler of its kind. */
export function routeToWorker<Result>(
  worker: LeaderMessagesToWorker<Result>,
  message: ToWorker,
  port: PeerPort<ToWorker>,
): Result {
  switch (message.kind) {
    case 'welcome':
      return worker.welcome({ message, port });
    case 'assign':
      return worker.assign({ message, port });
    case 'acknowledged':
      return worker.acknowledged({ message, port });
    case 'abort':
      return worker.abort({ message, port });
    case 'stale':
      return worker.stale({ message, port });
    case 'stream_windows':
      return worker.stream_windows({ message, port });
    case 'fed_items':
      return worker.fed_items({ message, port });
    case 'refused':
      return worker.refused({ message, port });
    case 'heartbeat':
      return worker.heartbeat({ message, port });
    default:
      return message satisfies never;
  }
}
