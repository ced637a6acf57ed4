import { type ActorContext, type ActorDefinition, type AnyRef, defineActor, type Host } from '@troupe/core';
import { actorHost } from '../actor-host.js';
import type { PayloadStore } from '../job/stored-payload.js';
import type { Journal, OpenJournal } from '../journal/journal.js';
import type { ClientHello, ClientMessage, LeaderOverview, ToClient } from '../protocol/client-messages.js';
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

export class LeaderState {
  readonly args: LeaderArgs;
  readonly sessions = new Map<AnyPort, Session | HeartbeatSession>();
  leader: Leader | undefined = undefined;

  constructor(args: LeaderArgs) {
    this.args = args;
  }

  /** There is one whenever a message is handled: messages wait for `started`. */
  get lead(): Leader {
    return this.leader as Leader;
  }

  /** Whoever says hello again, through whatever port, has lost the earlier session; so has an actor that ended. */
  part(ref: AnyRef): void {
    for (const [port, session] of this.sessions) {
      if (port.ref !== ref) continue;
      this.sessions.delete(port);
      this.lead.closed(session);
    }
  }
}

type Context = ActorContext<LeaderState>;

const handlers = {
  run(_ctx: Context, task: () => void) {
    task();
  },
  helloClient(
    ctx: Context,
    { hello, port }: { readonly hello: ClientHello; readonly port: PeerPort<ToClient> },
  ) {
    ctx.state.part(port.ref);
    ctx.state.sessions.set(port, ctx.state.lead.openClient(hello, port));
    ctx.watch(port.ref);
  },
  fromClient(
    ctx: Context,
    { message, port }: { readonly message: ClientMessage; readonly port: PeerPort<ToClient> },
  ) {
    const session = ctx.state.sessions.get(port);
    if (session !== undefined) ctx.state.lead.fromClient(session as ClientSession, message);
  },
  helloWorker(
    ctx: Context,
    { hello, port }: { readonly hello: WorkerHello; readonly port: PeerPort<ToWorker> },
  ) {
    ctx.state.part(port.ref);
    const { payloads } = ctx.state.lead;
    // Only a connection of the full dialect reads from the disk while it sends.
    const isWhole = port.streams !== true && payloads !== undefined;
    const lost: PayloadLost = (lostOne) => LeaderActor.self(ctx).tell.payloadLost({ ...lostOne, port });
    const outlet = isWhole ? new InlinePayloadPort(port, payloads, lost) : port;
    ctx.state.sessions.set(port, ctx.state.lead.openWorker(hello, outlet));
    ctx.watch(port.ref);
  },
  fromWorker(
    ctx: Context,
    { message, port }: { readonly message: WorkerMessage; readonly port: PeerPort<ToWorker> },
  ) {
    const session = ctx.state.sessions.get(port);
    if (session?.kind === 'worker') ctx.state.lead.fromWorker(session, message);
  },
  helloHeartbeat(
    ctx: Context,
    { hello, port }: { readonly hello: HeartbeatHello; readonly port: PeerPort<ToWorker> },
  ) {
    ctx.state.part(port.ref);
    ctx.state.sessions.set(port, ctx.state.lead.openHeartbeat(hello, port));
    ctx.watch(port.ref);
  },
  fromHeartbeat(
    ctx: Context,
    { report, port }: { readonly report: LoopBlocked; readonly port: PeerPort<ToWorker> },
  ) {
    const session = ctx.state.sessions.get(port);
    // Which of its two hellos a connection said last decides what it is believed.
    if (session?.kind === 'heartbeat') ctx.state.lead.fromHeartbeat(session, report);
  },
  /** The payload of a job that was to be sent is damaged or missing. */
  payloadLost(ctx: Context, { port, ...lost }: LostPayload & { readonly port: AnyPort }) {
    const session = ctx.state.sessions.get(port);
    if (session?.kind === 'worker') ctx.state.lead.payloadLost(session, lost);
  },
  payloads: (ctx: Context): PayloadStore | undefined => ctx.state.lead.payloads,
  /** The connection behind a port is gone. */
  lost(ctx: Context, port: AnyPort) {
    const session = ctx.state.sessions.get(port);
    ctx.state.sessions.delete(port);
    if (session !== undefined) ctx.state.lead.closed(session);
  },
  overview: (ctx: Context): LeaderOverview => ctx.state.lead.overview(),
  /** Refuses new work from now on. */
  quiesce(ctx: Context) {
    ctx.state.lead.drain();
  },
  /** Answers once everything in flight is durable and the journal is closed. */
  close(ctx: Context) {
    const closed = ctx.later<Error | undefined>();
    ctx.state.lead.stop((error) => closed.reply(error));
    return closed;
  },
};

/** The leader's machine as an actor. The journal's callbacks and the timers are messages like all others. */
export const LeaderActor: ActorDefinition<typeof handlers, LeaderState, LeaderArgs> = defineActor('leader', {
  state: (args: LeaderArgs) => new LeaderState(args),
  handlers,
  // What waits here is bounded by credit and by the submits a client may have unanswered.
  mailbox: { capacity: 65_536, overflow: 'grow' },
  started(ctx) {
    const { args } = ctx.state;
    const tell = LeaderActor.self(ctx).tell;
    return new Promise<void>((resolve, reject) => {
      const openJournal: OpenJournal = (reader, done) => {
        args.openJournal(reader, (error, journal) => {
          if (journal === undefined) return done(error);
          done(
            undefined,
            opened(journal, () => ctx.state.leader !== undefined, tell),
          );
        });
      };
      openLeader({ ...args, host: actorHost(args.host, tell), openJournal }, (error, leader) => {
        if (leader === undefined) return reject(error);
        ctx.state.leader = leader;
        resolve();
      });
    });
  },
  terminated(ctx, { ref }) {
    ctx.state.part(ref);
  },
});

/** During recovery the mailbox waits, so the first append must not come back through it. */
function opened(journal: Journal, isServing: () => boolean, tell: { run(task: () => void): void }): Journal {
  return {
    get low() {
      return journal.low;
    },
    append: (entries, done, stored) => {
      const appended = (error: Error | undefined, lsn: number): void => {
        if (isServing()) tell.run(() => done(error, lsn));
        else done(error, lsn);
      };
      journal.append(entries, appended, stored);
    },
    payloads: journal.payloads,
    snapshot: (done) => journal.snapshot(done),
    close: (done) => journal.close(done),
  };
}
