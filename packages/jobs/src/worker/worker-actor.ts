import { type ActorContext, type ActorDefinition, defineActor, type Host } from '@troupe/core';
import { actorHost } from '../actor-host-adapter.js';
import type { LeaderForWorkers, PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';
import { Worker, type WorkerSetup } from './worker.js';

export interface WorkerArgs
  extends Pick<WorkerSetup, 'worker' | 'handlers' | 'settings' | 'load' | 'onFailure'> {
  readonly host: Host;
  readonly leader: LeaderForWorkers;
}

export class WorkerState {
  readonly args: WorkerArgs;
  machine: Worker | undefined = undefined;
  port: PeerPort<ToWorker> | undefined = undefined;

  constructor(args: WorkerArgs) {
    this.args = args;
  }

  get worker(): Worker {
    return this.machine as Worker;
  }
}

type Context = ActorContext<WorkerState>;

const handlers = {
  run(_ctx: Context, task: () => void) {
    task();
  },
  /** A message of an earlier connection is dropped: credit is granted and work claimed per connection. */
  fromLeader(
    ctx: Context,
    { message, port }: { readonly message: ToWorker; readonly port: PeerPort<ToWorker> },
  ) {
    if (port === ctx.state.port) ctx.state.worker.fromLeader(message);
  },
  /** Replies when no attempt is held any more, at the latest a second after the deadline. */
  drain(ctx: Context, deadlineMs: number) {
    const drained = ctx.later<number>();
    ctx.state.worker.drain(deadlineMs, () => drained.reply(ctx.state.worker.held));
    return drained;
  },
  /** The connection is gone: running attempts go on, ends are kept. */
  lost(ctx: Context) {
    ctx.state.worker.disconnected();
  },
  /** There may be a connection again. */
  reconnect(ctx: Context) {
    ctx.state.worker.connect();
  },
  running: (ctx: Context) => ctx.state.worker.running,
};

/**
 * The worker as an actor. After a restart it is a new incarnation: the attempts of the old one count as lost.
 */
export const WorkerActor: ActorDefinition<typeof handlers, WorkerState, WorkerArgs> = defineActor('worker', {
  state: (args: WorkerArgs) => new WorkerState(args),
  handlers,
  mailbox: { capacity: 65_536, overflow: 'grow' },
  started(ctx) {
    const { args } = ctx.state;
    const { tell } = WorkerActor.self(ctx);
    const { state, self } = ctx;
    const incarnation = Math.floor(ctx.random() * 2 ** 48).toString(36);
    state.machine = new Worker({
      ...args,
      incarnation,
      host: actorHost(args.host, tell),
      onRefused: ({ code, message }) => {
        // A replaced session begins again by itself.
        if (code !== 'ERR_SESSION_REPLACED') ctx.log.error(message, { code, worker: args.worker });
      },
      link: {
        open: (hello) => {
          const port: PeerPort<ToWorker> = {
            ref: self,
            write: (message) => tell.fromLeader({ message, port }),
          };
          state.port = port;
          args.leader.helloWorker({ hello, port });
        },
        write: (message) => {
          if (state.port !== undefined) args.leader.fromWorker({ message, port: state.port });
        },
      },
    });
    state.machine.connect();
  },
  restarting(ctx) {
    ctx.state.machine?.stop();
  },
  stopping(ctx) {
    ctx.state.machine?.stop();
  },
});
