import { type Actor, type AnyRef, defineActor, type Host, type ProtocolContext } from '@troupe/core';
import type { PayloadStore } from '../job/payload/payload-store.js';
import { readPart } from '../job/payload/read-part.js';
import type { Journal } from '../journal/journal.js';
import type { ActorsView } from '../protocol/client/actors-view.js';
import type { AnyPort, FromClient, FromWorker, PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker/worker-messages.js';
import type { Spill } from '../spill/spill.js';
import type { Leader } from './leader.js';
import type { Session } from './leader-context.js';
import type { LeaderEffects } from './leader-effects.js';
import type { LeaderProtocol } from './leader-protocol.js';
import { type LeaderOptions, openLeader } from './open-leader.js';
import type { ClientSession } from './sessions/client-session.js';
import type { HeartbeatSession } from './sessions/heartbeat-session.js';
import { InlinePayloadPort } from './sessions/inline-payload-port.js';

export interface LeaderArgs
  extends Omit<LeaderOptions, 'clock' | 'effects' | 'later' | 'onSpillFailed' | 'owner'> {
  readonly host: Host;
  /** The actors of its system. */
  readonly viewActors: () => ActorsView;
  /** The journal failed: no further request is acknowledged. The process should end. */
  readonly onFatal: (error: Error) => void;
}

/** A message of a peer is a batch of up to {@link SLICE_ITEMS} items and more. */
const MAILBOX_MESSAGES_MAX = 8_192;

class LeaderActorState {
  readonly args: LeaderArgs;
  readonly sessions = new Map<AnyPort, Session | HeartbeatSession>();
  /** Called when the leader has finished after `close`. */
  onFinished: () => void = () => undefined;
  /** No message of an effect may follow the end of the actor. */
  ended = false;
  private opened: Leader | undefined = undefined;

  constructor(args: LeaderArgs) {
    this.args = args;
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

type LeaderActorContext = ProtocolContext<LeaderProtocol, LeaderActorState>;

/** The actor around the leader's state machine: messages become its inputs, its effects become messages. */
export const LeaderActor: Actor<LeaderProtocol, LeaderArgs> = defineActor.of<LeaderProtocol>()('leader', {
  state: (args: LeaderArgs) => new LeaderActorState(args),
  handlers: {
    helloClient(ctx, { hello, port }) {
      ctx.state.closeSessionsOf(port.ref);
      ctx.state.sessions.set(port, ctx.state.leader.openClient(hello, port));
      ctx.watch(port.ref);
    },
    define: fromClient,
    submit: fromClient,
    submitAll: fromClient,
    awaitOutcomes: fromClient,
    cancel: fromClient,
    inspect: fromClient,
    requestInput: fromClient,
    findKey: fromClient,
    releaseKeys: fromClient,
    list: fromClient,
    requestOverview: fromClient,
    requestActors: fromClient,
    redrive: fromClient,
    purge: fromClient,
    deadAttempts: fromClient,
    queues: fromClient,
    queueLimits: fromClient,
    queueMode: fromClient,
    explain: fromClient,
    changeSchedule: fromClient,
    listSchedules: fromClient,
    search: fromClient,
    groupDeadLetters: fromClient,
    cancelWhere: fromClient,
    redriveEdited: fromClient,
    listAudit: fromClient,
    listClients: fromClient,
    requestStats: fromClient,
    steerWorker: fromClient,
    readStream: fromClient,
    openFeed: fromClient,
    feed: fromClient,
    closeFeed: fromClient,
    streamConsumed: fromClient,
    stopStream: fromClient,
    clientHeartbeat: fromClient,
    endClient: fromClient,
    helloWorker(ctx, { hello, port }) {
      ctx.state.closeSessionsOf(port.ref);
      const { payloads } = ctx.state.leader;
      // Only a connection of the full dialect reads from the disk while it writes.
      const needsInline = port.streams !== true && payloads !== undefined;
      const workerPort = needsInline ? inlinePayloadPort(ctx, port, payloads) : port;
      ctx.state.sessions.set(port, ctx.state.leader.openWorker(hello, workerPort));
      ctx.watch(port.ref);
    },
    report: fromWorker,
    chunks: fromWorker,
    feedRequests: fromWorker,
    drainWorker: fromWorker,
    helloHeartbeat(ctx, { hello, port }) {
      ctx.state.closeSessionsOf(port.ref);
      ctx.state.sessions.set(port, ctx.state.leader.openHeartbeat(hello, port));
      ctx.watch(port.ref);
    },
    loopBlocked(ctx, { report, port }) {
      const session = ctx.state.sessions.get(port);
      // The latest hello of a connection decides whether it is a worker or the heartbeat of one.
      if (session?.kind === 'heartbeat') ctx.state.leader.fromHeartbeat(session, report);
    },
    payloadLost(ctx, { port, ...lost }) {
      const session = ctx.state.sessions.get(port);
      if (session?.kind === 'worker') ctx.state.leader.payloadLost(session, lost);
    },
    writable(ctx, port) {
      const session = ctx.state.sessions.get(port);
      if (session !== undefined && session.kind !== 'heartbeat') ctx.state.leader.writable(session);
    },
    connectionLost(ctx, port) {
      const session = ctx.state.sessions.get(port);
      ctx.state.sessions.delete(port);
      if (session !== undefined) ctx.state.leader.closed(session);
    },
    turn(ctx) {
      ctx.state.leader.turn();
    },
    tick(ctx) {
      ctx.state.leader.tick();
    },
    due(ctx) {
      ctx.state.leader.due();
    },
    scheduleDue(ctx) {
      ctx.state.leader.scheduleDue();
    },
    durable(ctx, { error, firstLsn }) {
      ctx.state.leader.appended(error, firstLsn);
    },
    spillWritten(ctx, written) {
      ctx.state.leader.spillWritten(written);
    },
    spillLoaded(ctx, loaded) {
      ctx.state.leader.spillLoaded(loaded);
    },
    inputRead(ctx, read) {
      ctx.state.leader.inputRead(read);
    },
    logChanged(ctx, condition) {
      ctx.state.leader.logChanged(condition);
    },
    logLost(ctx, error) {
      ctx.state.leader.logLost(error);
    },
    overview: (ctx) => ctx.state.leader.overview(),
    payloads: (ctx) => ctx.state.leader.payloads,
    drain(ctx) {
      ctx.state.leader.drain();
    },
    close(ctx) {
      const closed = ctx.later<Error | null>();
      const { state } = ctx;
      state.onFinished = () => state.leader.journal.close((error) => closed.reply(error));
      state.leader.stop();
      return closed;
    },
  },
  // Peers offer, and stop reading while it is full. Its own messages are told, so they always have room: at
  // most one turn, tick, due and scheduleDue, one `durable` for each append at the log, one write and few
  // reads of the spill, few changes of the log, one end of each connection. None of them overtakes: a report
  // that waits here counts before the tick behind it.
  mailbox: { capacity: MAILBOX_MESSAGES_MAX, overflow: 'mute-sender' },
  started(ctx) {
    const { state } = ctx;
    const { host } = state.args;
    return new Promise<void>((resolve, reject) => {
      const later = (run: () => void): void => host.later(run);
      const effects = (journal: Journal, spill: Spill | undefined): LeaderEffects =>
        effectsOf(ctx, journal, spill);
      const onSpillFailed = ({ message }: Error): void =>
        host.log({ level: 'warn', message: `chunks of streams have no files: ${message}`, fields: {} });
      const setup = { ...state.args, clock: host, later, effects, onSpillFailed, owner: ctx };
      openLeader(setup, (error, leader) => {
        if (leader === undefined) return reject(error);
        state.leader = leader;
        leader.journal.watch(ctx.self);
        resolve();
      });
    });
  },
  // Its log: without it no request can be acknowledged.
  supervise: { decide: () => 'escalate' },
  terminated(ctx, { ref }) {
    ctx.state.closeSessionsOf(ref);
  },
  stopped(ctx) {
    ctx.state.ended = true;
  },
});

function fromClient(ctx: LeaderActorContext, { message, port, bytes }: FromClient): void {
  const session = ctx.state.sessions.get(port);
  if (session !== undefined) ctx.state.leader.fromClient(session as ClientSession, message);
  if (bytes !== undefined) port.handled?.(bytes);
}

function fromWorker(ctx: LeaderActorContext, { message, port }: FromWorker): void {
  const session = ctx.state.sessions.get(port);
  if (session?.kind === 'worker') ctx.state.leader.fromWorker(session, message);
}

/** Reads of the disk may end after the actor. */
function inlinePayloadPort(
  { self, state }: LeaderActorContext,
  port: PeerPort<ToWorker>,
  payloads: PayloadStore,
): InlinePayloadPort {
  return new InlinePayloadPort(port, payloads, {
    onLost: (lost) => {
      if (!state.ended) self.tell.payloadLost({ ...lost, port });
    },
    onWritable: () => {
      if (!state.ended) self.tell.writable(port);
    },
  });
}

/** Effects of the machine as messages to its own actor. */
function effectsOf(ctx: LeaderActorContext, journal: Journal, spill: Spill | undefined): LeaderEffects {
  const { state, self } = ctx;
  const { host, onFatal } = state.args;
  const turn = (): void => {
    if (!state.ended) self.tell.turn();
  };
  return {
    requestTurn: () => host.later(turn),
    startTick: (ms) => void ctx.after(ms, self, { key: 'tick' }).tick(),
    startDueTimer: (ms) => void ctx.after(ms, self, { key: 'due' }).due(),
    startScheduleTimer: (ms) => void ctx.after(ms, self, { key: 'schedule' }).scheduleDue(),
    append: (entries, stored) => journal.append(entries, stored, self),
    writeSpill: (write) => spill?.write({ ...write, to: self }),
    readSpill: (read) => spill?.read({ ...read, to: self }),
    removeSpill: (files) => spill?.remove(files),
    readInput: (payload, from, max) => {
      const read = (error: Error | null, bytes: Uint8Array): void => {
        if (!state.ended) self.tell.inputRead({ error, bytes });
      };
      const { payloads } = state.leader;
      // A leader without a store has no such payload.
      if (payloads === undefined) read(new Error('there is no store'), new Uint8Array());
      else readPart(payloads.open(payload), from, max, read);
    },
    viewActors: () => state.args.viewActors(),
    finished: () => state.onFinished(),
    failed: onFatal,
  };
}
