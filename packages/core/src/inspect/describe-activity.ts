import type { ActorCell } from '../actor/actor-cell.js';
import { AWAITING, FAULT, MUTED, STOPPING, SUSPENDED, TERMINATED } from '../mailbox/status-word.js';
import type { Envelope } from '../message/envelope.js';
import type { SuspendReason } from '../message/suspend-reason.js';
import type { OpenWait } from '../waits/open-waits.js';

/** A longer mailbox is not searched for an ask: all its asks may time out together. */
const SEARCHED_MAX = 10_000;

/** The activity of an actor, for people: the end of an ask's time-out message, and of a line in the tree. */
export function describeActivity(cell: ActorCell, now: number, asked?: Envelope): string {
  const doing = activityOf(cell, now);
  if (asked === undefined) return doing;
  const { length } = cell.queue;
  if (length > SEARCHED_MAX) return `${doing}; ${length} messages are in its mailbox`;
  const place = cell.queue.findIndex((payload) => payload === asked);
  return place < 0 ? doing : `${doing}; this message is number ${place + 1} of ${length} in its mailbox`;
}

function activityOf(cell: ActorCell, now: number): string {
  const { status, cold } = cell;
  if ((status & TERMINATED) !== 0) return 'stopped';
  if ((status & AWAITING) !== 0 && cold?.awaiting !== undefined) {
    const { what, startedAt, latestWait } = cold.awaiting;
    const room = latestWait?.isForRoom === true && latestWait.isOpen ? roomText(latestWait, now) : '';
    return `running ${what} for ${Math.round(now - startedAt)} ms${room}`;
  }
  if ((status & STOPPING) !== 0) return `stopping (${cold?.ending?.stage ?? 'last step'})`;
  if ((status & FAULT) !== 0)
    return `failed in ${cold?.failure?.message ?? 'a sibling'}, waiting for its parent`;
  if ((status & SUSPENDED) !== 0) {
    const reasons = cold?.suspensions.map((s) => `${nameOf(s.reason)} for ${Math.round(now - s.since)} ms`);
    return `suspended: ${reasons?.join(', ')}`;
  }
  if ((status & MUTED) !== 0) return mutedText(cell, now);
  const { length } = cell.queue;
  return length > 0 ? `busy with ${length} message${length === 1 ? '' : 's'} waiting` : 'idle';
}

function roomText({ awaited, since }: OpenWait, now: number): string {
  return `, waiting for room at ${awaited.path} for ${Math.round(now - since)} ms`;
}

function mutedText(cell: ActorCell, now: number): string {
  const { backPressure } = cell.type.runtime;
  const receivers = backPressure.receiversMuting(cell).map(({ path }) => path);
  const ms = Math.round(now - (backPressure.mutedSince(cell) ?? now));
  return `suspended: backpressure until ${receivers.join(' and ')} has caught up, for ${ms} ms`;
}

function nameOf(reason: SuspendReason): string {
  return typeof reason === 'string' ? reason : reason.user;
}
