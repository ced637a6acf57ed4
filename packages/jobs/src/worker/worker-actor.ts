import { type Actor, defineActor, type Host, type ProtocolContext } from '@troupe/core';
import type { LeaderForWorkers, PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker/worker-messages.js';
import type { HandlerThreadReports, HandlerThreadSource } from './threads/handler-threads.js';
import type { CurrentHandlers } from './threads/thread-options.js';
import { type ThreadSetup, Worker, type WorkerSetup } from './worker.js';
import type { WorkerEffects } from './worker-effects.js';
import { routeToWorker, type WorkerProtocol, type WorkerReceived } from './worker-protocol.js';

export interface WorkerArgs
  extends Pick<WorkerSetup, 'worker' | 'settings' | 'load' | 'onFailure' | 'onStale' | 'tracing'> {
  readonly handlers: CurrentHandlers;
  readonly host: Host;
  readonly leader: LeaderForWorkers;
  /** Handlers run on threads, those of each incarnation on its own. */
  readonly threads?: HandlerThreadSource | undefined;
}

class WorkerState {
  readonly args: WorkerArgs;
  machine: Worker | undefined = undefined;
  /** Of the present session. */
  port: PeerPort<ToWorker> | undefined = undefined;
  /** This incarnation is over: no message of an effect may follow. */
  ended = false;
  onDrained: () => void = () => undefined;

  constructor(args: WorkerArgs) {
    this.args = args;
  }

  /** There is one whenever a message is handled: messages wait for `started`. */
  get worker(): Worker {
    return this.machine as Worker;
  }

  end(): void {
    this.ended = true;
    this.machine?.stop();
  }
}

type WorkerContext = ProtocolContext<WorkerProtocol, WorkerState>;

/**
 * The worker as an actor: messages become inputs of its state machine, effects become messages and timers.
 * After a restart it is a new incarnation: the attempts of the old one count as lost.
 */
export const WorkerActor: Actor<WorkerProtocol, WorkerArgs> = defineActor.of<WorkerProtocol>()('worker', {
  state: (args: WorkerArgs) => new WorkerState(args),
  handlers: {
    welcome: fromLeader,
    assign: fromLeader,
    acknowledged: fromLeader,
    abort: fromLeader,
    stale: fromLeader,
    stream_windows: fromLeader,
    fed_items: fromLeader,
    refused: fromLeader,
    heartbeat: fromLeader,
    attemptEnded(ctx, { attempt, end }) {
      ctx.state.worker.attemptEnded(attempt, end);
    },
    runnerReported(ctx, report) {
      const { instance, kind, failure } = report;
      if (failure !== undefined) {
        const problem = failure.failure.message;
        ctx.log.warn(`runner instance ${instance}, not ${kind}: ${problem}`, {
          worker: ctx.state.args.worker,
        });
      }
      ctx.state.worker.runnerReported(report);
    },
    handlersReplaced(ctx) {
      ctx.state.worker.replaceHandlers(ctx.state.args.handlers.current);
    },
    threadUp(ctx, up) {
      ctx.state.worker.threads?.threadUp(up);
    },
    handlerEnded(ctx, ended) {
      ctx.state.worker.threads?.handlerEnded(ended);
    },
    handlerChunks(ctx, chunks) {
      ctx.state.worker.threads?.handlerChunks(chunks);
    },
    handlerProgress(ctx, progress) {
      ctx.state.worker.threads?.handlerProgress(progress);
    },
    handlerFeed(ctx, state) {
      ctx.state.worker.threads?.handlerFeed(state);
    },
    handlerSilence(ctx, silence) {
      ctx.state.worker.threads?.handlerSilence(silence);
    },
    threadRunner(ctx, reported) {
      const { thread, report } = reported;
      if (report.failure !== undefined) {
        const problem = report.failure.failure.message;
        ctx.log.warn(`runner on handler thread ${thread}, not ${report.kind}: ${problem}`);
      }
      ctx.state.worker.threads?.threadRunner(reported);
    },
    threadEnded(ctx, ended) {
      const { thread, failure } = ended;
      ctx.log.warn(`handler thread ${thread} ended: ${failure.message}`, { worker: ctx.state.args.worker });
      ctx.state.worker.threads?.threadEnded(ended);
    },
    report(ctx) {
      ctx.state.worker.report();
    },
    tick(ctx) {
      ctx.state.worker.tick();
    },
    connected(ctx) {
      ctx.state.worker.connect();
    },
    connectionLost(ctx) {
      ctx.state.worker.disconnected();
    },
    drain(ctx, deadlineMs) {
      const drained = ctx.later<number>();
      const { worker } = ctx.state;
      ctx.state.onDrained = () => drained.reply(worker.held);
      worker.drain(deadlineMs);
      return drained;
    },
    running: (ctx) => ctx.state.worker.running,
  },
  // The leader's messages are bounded by credit, the ends of attempts by the slots; a report and a tick are
  // one message each.
  mailbox: { capacity: 32_768 },
  started(ctx) {
    const { state } = ctx;
    const { args } = state;
    const incarnation = Math.floor(ctx.random() * 2 ** 48).toString(36);
    const threads = openThreads(ctx);
    const handlers = args.handlers.current;
    const effects = effectsOf(ctx);
    state.machine = new Worker({ ...args, handlers, threads, incarnation, clock: args.host, effects });
    state.machine.connect();
  },
  restarting(ctx) {
    ctx.state.end();
  },
  stopping(ctx) {
    ctx.state.end();
  },
});

/** A message of an earlier session is dropped: credit is granted and work claimed per session. */
function fromLeader(ctx: WorkerContext, { message, port }: WorkerReceived): void {
  if (port === ctx.state.port) ctx.state.worker.fromLeader(message);
}

function openThreads({ state, self }: WorkerContext): ThreadSetup | undefined {
  const { threads } = state.args;
  if (threads === undefined) return undefined;
  const whileOpen = <T>(report: (value: T) => void): ((value: T) => void) => {
    return (value) => {
      if (!state.ended) report(value);
    };
  };
  const reports: HandlerThreadReports = {
    threadUp: whileOpen((up) => self.tell.threadUp(up)),
    handlerEnded: whileOpen((ended) => self.tell.handlerEnded(ended)),
    handlerChunks: whileOpen((chunks) => self.tell.handlerChunks(chunks)),
    handlerProgress: whileOpen((progress) => self.tell.handlerProgress(progress)),
    handlerFeed: whileOpen((state) => self.tell.handlerFeed(state)),
    handlerSilence: whileOpen((silence) => self.tell.handlerSilence(silence)),
    threadRunner: whileOpen((reported) => self.tell.threadRunner(reported)),
    threadEnded: whileOpen((ended) => self.tell.threadEnded(ended)),
  };
  const { count, graceMs } = threads;
  return { port: threads.open(reports), count, graceMs };
}

function effectsOf(ctx: WorkerContext): WorkerEffects {
  const { state, self, log } = ctx;
  const { leader, worker } = state.args;
  return {
    open(hello) {
      const port: PeerPort<ToWorker> = {
        ref: self,
        offer: (message) => routeToWorker(self.offer, message, port),
      };
      state.port = port;
      leader.helloWorker({ hello, port });
    },
    write(message) {
      if (state.port !== undefined) leader.fromWorker({ message, port: state.port });
    },
    requestReport: () => self.tell.report(),
    startTick: (ms) => {
      if (!state.ended) ctx.after(ms, self, { key: 'tick' }).tick();
    },
    settled: (attempt, end) => {
      if (!state.ended) self.tell.attemptEnded({ attempt, end });
    },
    runnerReport: (report) => {
      if (!state.ended) self.tell.runnerReported(report);
    },
    refused({ code, message }) {
      // A replaced session begins again by itself.
      if (code !== 'ERR_SESSION_REPLACED') log.error(message, { code, worker });
    },
    drained: () => state.onDrained(),
  };
}
