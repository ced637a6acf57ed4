import { type Actor, defineActor, type ProtocolContext } from '@troupe/core';
import type { ConnectionEvents } from '@troupe/transport';
import type { MessagesByKind } from '../../protocol/messages-by-kind.js';
import type { ToWorker } from '../../protocol/worker/worker-messages.js';
import { afterTaken, type Taken } from '../offer-to-leader.js';
import { SESSION_MAILBOX } from '../session-mailbox.js';
import type { SessionSetup } from '../session-setup.js';
import { SessionState } from '../session-state.js';
import { WorkerConnection, type WorkerSessionEvents } from './worker-connection.js';

/** The messages of a worker's session: of its connection, of the leader, and its own. */
export interface WorkerSessionProtocol
  extends ConnectionEvents,
    MessagesByKind<ToWorker>,
    WorkerSessionEvents {}

type State = SessionState<WorkerConnection>;

/** The session of a worker of the full dialect, or of its heartbeat thread. */
export const WorkerSessionActor: Actor<WorkerSessionProtocol, SessionSetup> =
  defineActor.of<WorkerSessionProtocol>()('worker', {
    state: (setup: SessionSetup) => new SessionState<WorkerConnection>(setup),
    handlers: {
      readable: (ctx) => ctx.state.connection.read(),
      welcome: deliver,
      refused: deliver,
      heartbeat: deliver,
      assign: deliver,
      acknowledged: deliver,
      stale: deliver,
      stream_windows: deliver,
      fed_items: deliver,
      abort: deliver,
      writable: (ctx) => ctx.state.connection.writable(),
      payloadLost: (ctx, lost) => ctx.state.connection.payloadLost(lost),
      notice() {},
      closed: (ctx) => afterTaken(ctx.state.connection.closed(), () => void ctx.stop()),
    },
    mailbox: SESSION_MAILBOX,
    started(ctx) {
      ctx.state.connection = new WorkerConnection(ctx.self, ctx.state.setup);
    },
    stopping(ctx) {
      ctx.state.connection.end();
    },
  });

function deliver(ctx: ProtocolContext<WorkerSessionProtocol, State>, message: ToWorker): Taken {
  return ctx.state.connection.deliver(message);
}
