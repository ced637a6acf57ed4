import { type Actor, defineActor, type ProtocolContext } from '@troupe/core';
import {
  type ConnectionEvents,
  FrameType,
  NO_HEADER,
  type ReceivedFrame,
  type SessionConnection,
} from '@troupe/transport';
import { type Payload, payloadBytes, payloadOfBytes, payloadOfText } from '../../job/payload/payload.js';
import type { MessagesByKind } from '../../protocol/messages-by-kind.js';
import type { Assignment, AttemptEnd, ToWorker } from '../../protocol/worker/worker-messages.js';
import { afterTaken, type Taken } from '../offer-to-leader.js';
import { SESSION_MAILBOX } from '../session-mailbox.js';
import { SessionPort } from '../session-port.js';
import type { SessionSetup } from '../session-setup.js';
import { MINIMAL_EXEC } from './minimal-job-policy.js';

/** This dialect does not count bytes: one payload is one frame, and only Credit bounds their number. */
const BYTES_UNBOUNDED = 2 ** 52;
const HEARTBEAT = 'heartbeat';

/** The messages of a minimal worker's session: of its connection, of the leader, and its own. */
export interface MinimalWorkerProtocol extends ConnectionEvents, MessagesByKind<ToWorker> {
  /** There is room in the outbox again. */
  writable(): void;
  renewLeases(): void;
}

type Context = ProtocolContext<MinimalWorkerProtocol, State>;

class State {
  readonly setup: SessionSetup;
  readonly connection: SessionConnection;
  /** The most attempts at once. */
  readonly slots: number;
  readonly unacked: Assignment[] = [];
  /** Assignments without room in the outbox; bounded by the credit of the worker. */
  readonly unwritten: Assignment[] = [];
  port: SessionPort<ToWorker> | undefined = undefined;
  isBehind = false;
  isOver = false;
  granted = 0;
  assigned = 0;
  heartbeatMs = 0;

  constructor(setup: SessionSetup) {
    this.setup = setup;
    this.connection = setup.connection;
    this.slots = setup.connection.handshake.creditMax;
  }

  get hasRoom(): boolean {
    return !this.isBehind && this.unwritten.length === 0;
  }

  hello(port: SessionPort<ToWorker>): Taken {
    this.port = port;
    const { connectionId: id } = this.connection.handshake;
    const hello = {
      worker: `minimal-${id.slice(0, 12)}`,
      incarnation: id,
      execs: [MINIMAL_EXEC],
      patterns: ['job.assign.>'],
      slots: this.slots,
      credit: { jobs: 0, bytes: BYTES_UNBOUNDED },
      held: [],
    };
    return this.setup.leader.helloWorker({ hello, port });
  }

  /** Writes assignments while there is room. */
  write(): void {
    while (this.unwritten.length > 0 && !this.isBehind) {
      const assignment = this.unwritten.shift() as Assignment; // length > 0
      this.unacked.push(assignment);
      const bytes = payloadBytes(assignment.payload);
      const written = this.connection.write(FrameType.AssignJob, NO_HEADER, bytes);
      this.isBehind = written === 'backpressure';
      if (written === 'full' || written === 'too-large') this.connection.destroy({ kind: 'slow-reader' });
    }
  }

  /** The end that a frame of the worker reports; undefined for Credit, or where the connection is closed. */
  receive(frame: ReceivedFrame): readonly AttemptEnd[] | undefined {
    if (frame.type === FrameType.Credit && this.grant(frame.body)) return [];
    const assignment = frame.type === FrameType.AckJob ? this.unacked.shift() : undefined;
    if (assignment === undefined) {
      this.connection.close();
      return undefined;
    }
    return [endOf(assignment, frame.body)];
  }

  report(ends: readonly AttemptEnd[]): Taken {
    const { port } = this;
    if (this.heartbeatMs === 0 || port === undefined) return undefined;
    const credit = { jobs: this.granted, bytes: BYTES_UNBOUNDED };
    return this.setup.leader.fromWorker({
      message: { kind: 'report', ends, credit, cpu: 0, lagMs: 0 },
      port,
    });
  }

  private grant(body: Buffer): boolean {
    const jobs = body.length === 0 ? 1 : body.length === 4 ? body.readInt32LE(0) : 0;
    if (jobs < 1 || this.granted + jobs - this.assigned > this.slots) return false;
    this.granted += jobs;
    return true;
  }
}

/**
 * A worker of the minimal dialect: Credit(n), raw assignments, an ack belongs to the oldest assignment
 * without one. It has no heartbeat, so its leases are renewed here while its connection is open; the run-time
 * limit still ends an attempt that never comes back. Of the leader's other messages the dialect has none: a
 * worker whose attempt was taken away still acknowledges it, without effect.
 */
export const MinimalWorkerSessionActor: Actor<MinimalWorkerProtocol, SessionSetup> =
  defineActor.of<MinimalWorkerProtocol>()('minimal-worker', {
    state: (setup: SessionSetup) => new State(setup),
    handlers: {
      readable: read,
      welcome(ctx, { heartbeatMs }) {
        ctx.state.heartbeatMs = heartbeatMs;
        return report(ctx, []);
      },
      assign(ctx, { items }) {
        ctx.state.assigned += items.length;
        ctx.state.unwritten.push(...items);
        return write(ctx);
      },
      writable(ctx) {
        ctx.state.isBehind = false;
        return write(ctx);
      },
      renewLeases: (ctx) => report(ctx, []),
      refused: (ctx) => ctx.state.connection.close(),
      acknowledged() {},
      stream_windows() {},
      fed_items() {},
      stale() {},
      abort() {},
      heartbeat() {},
      notice() {},
      closed(ctx) {
        const { port, setup } = ctx.state;
        ctx.state.isOver = true;
        const lost = port === undefined ? undefined : setup.leader.connectionLost(port);
        return afterTaken(lost, () => void ctx.stop());
      },
    },
    mailbox: SESSION_MAILBOX,
    started(ctx) {
      const { state } = ctx;
      return state.hello(new SessionPort<ToWorker>(ctx.self, state.setup, () => state.hasRoom));
    },
    stopping(ctx) {
      ctx.state.isOver = true;
    },
  });

function read(ctx: Context): Taken {
  for (;;) {
    const frame = ctx.state.connection.nextFrame();
    if (frame === null) return undefined;
    const ends = ctx.state.receive(frame);
    const taken = ends === undefined ? undefined : report(ctx, ends);
    if (taken !== undefined) return taken.then(() => read(ctx));
  }
}

function write(ctx: Context): Taken {
  const { state, self } = ctx;
  const wasBehind = state.isBehind;
  state.write();
  if (state.isBehind && !wasBehind)
    void state.connection.whenWritable().then(() => {
      if (!state.isOver) self.tell.writable();
    });
  return state.port?.reportRoom();
}

/** Every report renews the leases, and so does silence: the next one is due after a heartbeat. */
function report(ctx: Context, ends: readonly AttemptEnd[]): Taken {
  const { state } = ctx;
  if (state.heartbeatMs > 0) ctx.after(state.heartbeatMs, ctx.self, { key: HEARTBEAT }).renewLeases();
  return state.report(ends);
}

function endOf({ job, attempt, outputBytes }: Assignment, body: Buffer): AttemptEnd {
  if (body.length <= outputBytes) return { outcome: 'ok', job, attempt, result: resultOf(body) };
  const message = `output of ${body.length} bytes, at most ${outputBytes}`;
  return { outcome: 'final', job, attempt, failure: { name: 'OutputTooLarge', message } };
}

/** Results are JSON everywhere else: a body that is none becomes a JSON string. */
function resultOf(body: Buffer): Payload {
  if (body.length === 0) return payloadOfText('null');
  const text = body.toString('utf8');
  try {
    JSON.parse(text);
    return payloadOfBytes(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return payloadOfText(JSON.stringify(text));
  }
}
