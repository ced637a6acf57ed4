import type { ActorCell } from '../actor/actor-cell.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';
import type { FlightRecorder, RecordedSend } from './flight-recorder.js';

const SENDS_MAX = 20;

/**
 * The sends before the present state of the actor in a slot, as lines for people: `sender →
 * receiver.message`, oldest first. By slot: an event that is kept to read its history later keeps no actor
 * alive.
 */
export function messageHistoryOf(
  recorder: FlightRecorder | undefined,
  ready: ReadyQueueCoordinator<ActorCell>,
  of: number,
): string[] {
  return textOf(recorder?.messageHistoryOf(ready, of, SENDS_MAX) ?? [], ready);
}

/** The last sends in the whole system, oldest first. */
export function lastMessagesOf(
  recorder: FlightRecorder | undefined,
  ready: ReadyQueueCoordinator<ActorCell>,
  most: number,
): string[] {
  return textOf(recorder?.lastSends(ready, most) ?? [], ready);
}

function textOf(sends: readonly RecordedSend[], ready: ReadyQueueCoordinator<ActorCell>): string[] {
  const nameOf = (slot: number): string => {
    if (slot === 0) return 'outside';
    return ready.slots.mailboxes[slot]?.path ?? `ended actor ${Math.abs(slot)}`;
  };
  return sends.map(({ sender, receiver, handler }) => {
    const names = ready.slots.mailboxes[receiver]?.type.definition['~handlerNames'];
    return `${nameOf(sender)} → ${nameOf(receiver)}.${names?.[handler] ?? handler}`;
  });
}
