import { type Actor, defineActor, type Host } from '@troupe/core';
import { actorHost } from '../actor-host-adapter.js';
import type { LeaderForWorkers, PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';
import { Worker, type WorkerSetup } from './worker.js';

export interface WorkerArgs
  extends Pick<WorkerSetup, 'worker' | 'handlers' | 'settings' | 'load' | 'onFailure' | 'onStale'> {
  readonly host: Host;
  readonly leader: LeaderForWorkers;
}

class WorkerState {
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

/** The messages of a worker. */
export interface WorkerProtocol {
  run(task: () => void): void;
  /** A message of an earlier connection is dropped: credit is granted and work claimed per connection. */
  fromLeader(received: { readonly message: ToWorker; readonly port: PeerPort<ToWorker> }): void;
  /** Replies when no attempt is held any more, at the latest a second after the deadline. */
  drain(deadlineMs: number): number;
  /** The connection is gone: running attempts go on, ends are kept. */
  lost(): void;
  /** There may be a connection again. */
  reconnect(): void;
  running(): number;
}

/**
 * The worker as an actor. After a restart it is a new incarnation: the attempts of the old one count as lost.
 */
export const WorkerActor: Actor<WorkerProtocol, WorkerArgs> = defineActor.of<WorkerProtocol>()('worker', {
  state: (args: WorkerArgs) => new WorkerState(args),
  handlers: {
    run(_ctx, task) {
      task();
    },
    fromLeader(ctx, { message, port }) {
      if (port === ctx.state.port) ctx.state.worker.fromLeader(message);
    },
    drain(ctx, deadlineMs) {
      const drained = ctx.later<number>();
      const { worker } = ctx.state;
      worker.drain(deadlineMs, () => drained.reply(worker.held));
      return drained;
    },
    lost(ctx) {
      ctx.state.worker.disconnected();
    },
    reconnect(ctx) {
      ctx.state.worker.connect();
    },
    running: (ctx) => ctx.state.worker.running,
  },
  mailbox: { capacity: 65_536, overflow: 'grow' },
  started(ctx) {
    const { args } = ctx.state;
    const { state, self } = ctx;
    const { tell } = self;
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
            offer: (message) => self.offer.fromLeader({ message, port }),
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
