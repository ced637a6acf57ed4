import { Ring } from '../../collections/ring.js';
import type { ClientMessage } from '../../protocol/client/client-messages.js';
import type { WorkerMessage } from '../../protocol/worker/worker-messages.js';
import type { Session } from '../leader-context.js';
import type { ClientSession } from './client-session.js';
import type { WorkerSession } from './worker-session.js';

/** Items of a list that are handled at once; the frames of this package hold fewer. */
export const SLICE_ITEMS = 2_048;

export interface SliceHandler {
  fromClient(session: ClientSession, message: ClientMessage): void;
  fromWorker(session: WorkerSession, message: WorkerMessage): void;
}

/**
 * Messages with long lists, cut into slices. One slice a turn is handled, of the sessions in turns, and later
 * messages of such a session wait behind its list: other sessions are answered between the slices. The rest
 * of a session that ends is dropped like messages that never arrived.
 */
export class MessageSlices {
  private readonly sessions = new Ring<Session>();
  private readonly handler: SliceHandler;

  constructor(handler: SliceHandler) {
    this.handler = handler;
  }

  get size(): number {
    return this.sessions.size;
  }

  /** False: the message is short and nothing of its session waits, so it is to be handled now. */
  defers(session: ClientSession, message: ClientMessage): boolean {
    const { sliced } = session;
    const items = clientItems(message);
    if (sliced === undefined && items <= SLICE_ITEMS) return false;
    const queue = sliced ?? new Ring<ClientMessage>();
    if (sliced === undefined) this.sessions.push(session);
    session.sliced = queue;
    for (let at = 0; at < Math.max(items, 1); at += SLICE_ITEMS) queue.push(clientSlice(message, at));
    return true;
  }

  defersReport(session: WorkerSession, message: WorkerMessage): boolean {
    const { sliced } = session;
    const ends = message.kind === 'report' ? message.ends.length : 0;
    if (sliced === undefined && ends <= SLICE_ITEMS) return false;
    const queue = sliced ?? new Ring<WorkerMessage>();
    if (sliced === undefined) this.sessions.push(session);
    session.sliced = queue;
    for (let at = 0; at < Math.max(ends, 1); at += SLICE_ITEMS) queue.push(reportSlice(message, at));
    return true;
  }

  /** Handles the next slice of the session whose turn it is. */
  step(): void {
    const session = this.sessions.shift();
    if (session === undefined) return;
    if (session.kind === 'client') {
      const message = session.sliced?.shift();
      if (message !== undefined && !session.closed) this.handler.fromClient(session, message);
    } else {
      const message = session.sliced?.shift();
      if (message !== undefined && session.open) this.handler.fromWorker(session, message);
    }
    const isOver = session.kind === 'client' ? session.closed : !session.open;
    if (isOver || session.sliced === undefined || session.sliced.size === 0) session.sliced = undefined;
    else this.sessions.push(session);
  }
}

/** A batch is one record, all or none, and has a bound of its own. */
function clientItems(message: ClientMessage): number {
  if (message.kind === 'submit') return message.items.length;
  return message.kind === 'await' ? message.jobs.length : 0;
}

function clientSlice(message: ClientMessage, at: number): ClientMessage {
  if (message.kind === 'submit') return { ...message, items: message.items.slice(at, at + SLICE_ITEMS) };
  if (message.kind === 'await') return { ...message, jobs: message.jobs.slice(at, at + SLICE_ITEMS) };
  return message;
}

/** The credit of a report counts with its last slice: it may be late, never early. */
function reportSlice(message: WorkerMessage, at: number): WorkerMessage {
  if (message.kind !== 'report' || message.ends.length <= SLICE_ITEMS) return message;
  const ends = message.ends.slice(at, at + SLICE_ITEMS);
  const isLast = at + SLICE_ITEMS >= message.ends.length;
  const share = ends.length / message.ends.length;
  const runMs = message.runMs === undefined ? undefined : message.runMs * share;
  const credit = isLast ? message.credit : { jobs: 0, bytes: 0 };
  const runners = isLast ? message.runners : undefined;
  // Progress counts before any end.
  const progress = at === 0 ? message.progress : undefined;
  return { ...message, ends, runMs, credit, runners, progress };
}
