import { type Actor, type AnyRef, defineActor, type Host } from '@troupe/core';
import { actorHost } from '../actor-host-adapter.js';
import type { PayloadStore } from '../job/payload-store.js';
import type { JobsHost } from '../jobs-host.js';
import { type Journal, NO_STATUS, type OpenJournal } from '../journal/journal.js';
import type { LeaderOverview } from '../protocol/admin-messages.js';
import type { ClientHello, ClientMessage, ToClient } from '../protocol/client-messages.js';
import type { LostPayload, PeerPort } from '../protocol/leader-interface.js';
import type {
  HeartbeatHello,
  LoopBlocked,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '../protocol/worker-messages.js';
import type { Leader } from './leader.js';
import type { Session } from './leader-context.js';
import { type LeaderOptions, openLeader } from './open-leader.js';
import type { ClientSession } from './sessions/client-session.js';
import type { HeartbeatSession } from './sessions/heartbeat-session.js';
import { InlinePayloadPort, type PayloadLost } from './sessions/inline-payload-port.js';

export interface LeaderArgs extends Omit<LeaderOptions, 'host'> {
  readonly host: Host;
}

type AnyPort = PeerPort<ToClient> | PeerPort<ToWorker>;

class LeaderActorState {
  readonly args: LeaderArgs;
  readonly sessions = new Map<AnyPort, Session | HeartbeatSession>();
  private opened: Leader | undefined = undefined;

  constructor(args: LeaderArgs) {
    this.args = args;
  }

  get isOpen(): boolean {
    return this.opened !== undefined;
  }

  /** There is one whenever a message is handled: messages wait for `started`. */
  get leader(): Leader {
    return this.opened as Leader;
  }

  set leader(leader: Leader) {
    this.opened = leader;
  }

  /**
   * Ends every session of this actor: it has ended itself, or it opens a new session through another port.
   */
  closeSessionsOf(ref: AnyRef): void {
    for (const [port, session] of this.sessions) {
      if (port.ref !== ref) continue;
      this.sessions.delete(port);
      this.leader.closed(session);
    }
  }
}

/** The messages of the leader. */
export interface LeaderProtocol {
  run(task: () => void): void;
  helloClient(opened: { readonly hello: ClientHello; readonly port: PeerPort<ToClient> }): void;
  fromClient(received: { readonly message: ClientMessage; readonly port: PeerPort<ToClient> }): void;
  helloWorker(opened: { readonly hello: WorkerHello; readonly port: PeerPort<ToWorker> }): void;
  fromWorker(received: { readonly message: WorkerMessage; readonly port: PeerPort<ToWorker> }): void;
  helloHeartbeat(opened: { readonly hello: HeartbeatHello; readonly port: PeerPort<ToWorker> }): void;
  fromHeartbeat(received: { readonly report: LoopBlocked; readonly port: PeerPort<ToWorker> }): void;
  /** The payload of a job that was to be written to a worker is damaged or missing. */
  payloadLost(lost: LostPayload & { readonly port: AnyPort }): void;
  payloads(): PayloadStore | undefined;
  /** The connection behind a port is lost. */
  lost(port: AnyPort): void;
  overview(): LeaderOverview;
  /** Refuses new work from now on. */
  drain(): void;
  /** Answers once every staged record is durable and the journal is closed. */
  close(): Error | null;
}

/**
 * The actor around the leader's state machine. Callbacks of the journal and of timers are messages like all
 * others.
 */
export const LeaderActor: Actor<LeaderProtocol, LeaderArgs> = defineActor.of<LeaderProtocol>()('leader', {
  state: (args: LeaderArgs) => new LeaderActorState(args),
  handlers: {
    run(_ctx, task) {
      task();
    },
    helloClient(ctx, { hello, port }) {
      ctx.state.closeSessionsOf(port.ref);
      ctx.state.sessions.set(port, ctx.state.leader.openClient(hello, port));
      ctx.watch(port.ref);
    },
    fromClient(ctx, { message, port }) {
      const session = ctx.state.sessions.get(port);
      if (session !== undefined) ctx.state.leader.fromClient(session as ClientSession, message);
    },
    helloWorker(ctx, { hello, port }) {
      ctx.state.closeSessionsOf(port.ref);
      const { payloads } = ctx.state.leader;
      // Only a connection of the full dialect reads from the disk while it writes.
      const needsInline = port.streams !== true && payloads !== undefined;
      const lost: PayloadLost = (payload) => ctx.self.tell.payloadLost({ ...payload, port });
      const workerPort = needsInline ? new InlinePayloadPort(port, payloads, lost) : port;
      ctx.state.sessions.set(port, ctx.state.leader.openWorker(hello, workerPort));
      ctx.watch(port.ref);
    },
    fromWorker(ctx, { message, port }) {
      const session = ctx.state.sessions.get(port);
      if (session?.kind === 'worker') ctx.state.leader.fromWorker(session, message);
    },
    helloHeartbeat(ctx, { hello, port }) {
      ctx.state.closeSessionsOf(port.ref);
      ctx.state.sessions.set(port, ctx.state.leader.openHeartbeat(hello, port));
      ctx.watch(port.ref);
    },
    fromHeartbeat(ctx, { report, port }) {
      const session = ctx.state.sessions.get(port);
      // The latest hello of a connection decides whether it is a worker or the heartbeat of one.
      if (session?.kind === 'heartbeat') ctx.state.leader.fromHeartbeat(session, report);
    },
    payloadLost(ctx, { port, ...lost }) {
      const session = ctx.state.sessions.get(port);
      if (session?.kind === 'worker') ctx.state.leader.payloadLost(session, lost);
    },
    payloads: (ctx) => ctx.state.leader.payloads,
    lost(ctx, port) {
      const session = ctx.state.sessions.get(port);
      ctx.state.sessions.delete(port);
      if (session !== undefined) ctx.state.leader.closed(session);
    },
    overview: (ctx) => ctx.state.leader.overview(),
    drain(ctx) {
      ctx.state.leader.drain();
    },
    close(ctx) {
      const closed = ctx.later<Error | null>();
      ctx.state.leader.stop((error) => closed.reply(error));
      return closed;
    },
  },
  // Bounded by the credit of workers and by the submits a client may have unanswered.
  mailbox: { capacity: 65_536, overflow: 'grow' },
  started(ctx) {
    const { state } = ctx;
    const { tell } = ctx.self;
    return new Promise<void>((resolve, reject) => {
      const openJournal: OpenJournal = (reader, done) => {
        state.args.openJournal(reader, (error, journal) => {
          if (journal === undefined) done(error);
          else done(null, actorJournal(journal, state, tell));
        });
      };
      openLeader({ ...state.args, host: openingHost(state, tell), openJournal }, (error, leader) => {
        if (leader === undefined) return reject(error);
        state.leader = leader;
        resolve();
      });
    });
  },
  terminated(ctx, { ref }) {
    ctx.state.closeSessionsOf(ref);
  },
});

/** Until the leader is open its mailbox is closed, so deferred tasks run directly. */
function openingHost(state: LeaderActorState, tell: { run(task: () => void): void }): JobsHost {
  const { host } = state.args;
  return {
    ...actorHost(host, tell),
    later: (run) => host.later(() => (state.isOpen ? tell.run(run) : run())),
  };
}

/**
 * The journal with its callbacks as messages of the actor. During recovery the mailbox is closed, so the
 * callback of the first append runs directly.
 */
function actorJournal(
  journal: Journal,
  state: LeaderActorState,
  tell: { run(task: () => void): void },
): Journal {
  return {
    isOwner: () => journal.isOwner(),
    get diskLow() {
      return journal.diskLow;
    },
    get diskSlow() {
      return journal.diskSlow;
    },
    status: () => journal.status?.() ?? NO_STATUS,
    append: (entries, done, stored) => {
      const appended = (error: Error | null, lsn: number): void => {
        if (state.isOpen) tell.run(() => done(error, lsn));
        else done(error, lsn);
      };
      journal.append(entries, appended, stored);
    },
    payloads: journal.payloads,
    snapshot: (done) => journal.snapshot(done),
    close: (done) => journal.close(done),
  };
}
