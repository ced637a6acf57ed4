import { type Actor, defineActor, type ProtocolContext } from '@troupe/core';
import {
  type ConnectionEvents,
  FrameType,
  type ReceivedFrame,
  type SessionConnection,
} from '@troupe/transport';
import { payloadOfBytes } from '../../job/payload/payload.js';
import type { Receipt, Refusal, SubmitItem, ToClient } from '../../protocol/client/client-messages.js';
import type { MessagesByKind } from '../../protocol/messages-by-kind.js';
import { afterTaken, type Taken } from '../offer-to-leader.js';
import { SESSION_MAILBOX } from '../session-mailbox.js';
import { SessionPort } from '../session-port.js';
import type { SessionSetup } from '../session-setup.js';
import { MINIMAL_POLICY } from './minimal-job-policy.js';

/** A submit that the leader could not take; its definition may be missing too. */
interface Retry {
  readonly seq: number;
  readonly needsDefinition: boolean;
}

/** The messages of a minimal client's session: of its connection, of the leader, of its timers. */
export interface MinimalClientProtocol extends ConnectionEvents, MessagesByKind<ToClient> {
  hello(): void;
  retry(retry: Retry): void;
}

const HELLO_AGAIN_MS = 1_000;

type Context = ProtocolContext<MinimalClientProtocol, State>;

class State {
  readonly setup: SessionSetup;
  readonly connection: SessionConnection;
  /** Submits without a final answer. */
  readonly pending = new Map<number, SubmitItem>();
  port: SessionPort<ToClient> | undefined = undefined;
  nextSeq = 1;
  answeredTo = 0;
  isWelcome = false;
  isOver = false;

  constructor(setup: SessionSetup) {
    this.setup = setup;
    this.connection = setup.connection;
  }

  hello(): Taken {
    const { port } = this;
    const { connectionId: id } = this.connection.handshake;
    return port === undefined
      ? undefined
      : this.setup.leader.helloClient({ hello: { client: 'minimal', token: id }, port });
  }

  define(): Taken {
    const message = { kind: 'define', ref: 1, policy: MINIMAL_POLICY } as const;
    return this.port === undefined ? undefined : this.setup.leader.fromClient({ message, port: this.port });
  }

  submit(items: readonly SubmitItem[]): Taken {
    const { port } = this;
    if (items.length === 0 || port === undefined) return undefined;
    return this.setup.leader.fromClient({ message: { kind: 'submit', low: this.answeredTo, items }, port });
  }

  /** Keeps the submit of a frame; undefined for a frame that is none, which ends the connection. */
  accept(frame: ReceivedFrame): SubmitItem | undefined {
    if (frame.type !== FrameType.SubmitJob) {
      this.connection.destroy({ kind: 'refused', errorName: 'UNKNOWN_TYPE', cause: 'not a SubmitJob' });
      return undefined;
    }
    const payload = payloadOfBytes(frame.body);
    const item: SubmitItem = {
      seq: this.nextSeq,
      ref: 1,
      payload,
      key: '',
      delayMs: 0,
      wantsOutcome: false,
    };
    this.nextSeq += 1;
    this.pending.set(item.seq, item);
    this.connection.requestStarted(payload.length);
    return item;
  }

  refuse({ code, problem }: Refusal): void {
    const errorName = code === 'ERR_PAYLOAD_TOO_LARGE' ? 'PAYLOAD_TOO_LARGE' : 'MALFORMED';
    this.connection.destroy({ kind: 'refused', errorName, cause: problem });
  }

  forget(seq: number): void {
    const item = this.pending.get(seq);
    if (item === undefined) return;
    this.pending.delete(seq);
    if (!this.isOver) this.connection.requestEnded(item.payload.length);
    while (this.answeredTo + 1 < this.nextSeq && !this.pending.has(this.answeredTo + 1)) this.answeredTo += 1;
  }
}

/**
 * A client of the minimal dialect: raw payloads, no answers. Such a client cannot retry, so a submit that the
 * leader cannot take now is repeated here until it can, even after the connection has ended; meanwhile the
 * socket is not read beyond the limits. A submit that the leader will never take ends the connection: the
 * dialect has no other answer.
 */
export const MinimalClientSessionActor: Actor<MinimalClientProtocol, SessionSetup> =
  defineActor.of<MinimalClientProtocol>()('minimal-client', {
    state: (setup: SessionSetup) => new State(setup),
    handlers: {
      readable: read,
      hello: (ctx) => ctx.state.hello(),
      welcome(ctx) {
        const { state } = ctx;
        state.isWelcome = true;
        const submitted = afterTaken(state.define(), () => state.submit([...state.pending.values()]));
        return afterTaken(submitted, () => stopIfDone(ctx));
      },
      refused(ctx) {
        ctx.state.isWelcome = false;
        ctx.after(HELLO_AGAIN_MS, ctx.self).hello();
      },
      receipts(ctx, { items }) {
        for (const receipt of items) answered(ctx, receipt);
        return afterTaken(ctx.state.port?.reportRoom(), () => stopIfDone(ctx));
      },
      retry({ state }, { seq, needsDefinition }) {
        const item = state.pending.get(seq);
        if (item === undefined || !state.isWelcome) return undefined;
        return afterTaken(needsDefinition ? state.define() : undefined, () => state.submit([item]));
      },
      heartbeat() {},
      outcomes() {},
      answer() {},
      stream_items() {},
      feed_states() {},
      notice() {},
      closed(ctx) {
        ctx.state.isOver = true;
        return stopIfDone(ctx);
      },
    },
    mailbox: SESSION_MAILBOX,
    started(ctx) {
      ctx.state.port = new SessionPort<ToClient>(ctx.self, ctx.state.setup);
      return ctx.state.hello();
    },
  });

function read(ctx: Context): Taken {
  const { state } = ctx;
  for (;;) {
    const frame = state.connection.nextFrame();
    if (frame === null) return undefined;
    const item = state.accept(frame);
    if (item === undefined || !state.isWelcome) continue;
    const taken = state.submit([item]);
    if (taken !== undefined) return taken.then(() => read(ctx));
  }
}

function answered(ctx: Context, { seq, refusal }: Receipt): void {
  if (refusal !== undefined && refusal.retryAfterMs > 0) {
    const needsDefinition = refusal.code === 'ERR_POLICIES_FULL';
    return void ctx.after(refusal.retryAfterMs, ctx.self).retry({ seq, needsDefinition });
  }
  if (refusal !== undefined) ctx.state.refuse(refusal);
  ctx.state.forget(seq);
}

/** After the end of the connection the session goes on until every submit has its answer. */
function stopIfDone(ctx: Context): Taken {
  const { state } = ctx;
  const { port } = state;
  if (!state.isOver || state.pending.size > 0 || port === undefined) return undefined;
  const { leader } = state.setup;
  const ended = leader.fromClient({ message: { kind: 'close' }, port });
  return afterTaken(
    afterTaken(ended, () => leader.connectionLost(port)),
    () => void ctx.stop(),
  );
}
