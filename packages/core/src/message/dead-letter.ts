/** Why a message reached no handler. */
export type DeadLetterReason =
  | 'stopped' // sent to an actor that has stopped or is stopping
  | 'draining' // sent to an actor that only finishes its backlog
  | 'left-over' // was still in the mailbox when the actor stopped
  | 'rejected' // the mailbox was full (overflow: 'reject')
  | 'dropped' // the mailbox was full (overflow: 'drop-newest')
  | 'evicted' // made room for a newer message (overflow: 'drop-oldest')
  | 'overloaded' // the whole system holds queuedMax messages
  | 'refused' // a middleware refused it
  | 'expired' // its ask had timed out before it was handled
  | 'cancelled' // its asker had given up before it was handled
  | 'unrouted' // a router had no routee for it
  | 'not-cloneable' // cannot be written to another thread
  | 'thread-ended' // was on its way to a thread that has ended
  | 'illegal'; // not legal in the actor's present phase, or sent with a stale context

/** A message that reached no handler: nothing is lost without one of these. */
export interface DeadLetter {
  /** Why it reached no handler. */
  readonly reason: DeadLetterReason;
  /** Path of the actor it was meant for. */
  readonly to: string;
  /** Name of the handler it was meant for. */
  readonly message: string;
  /** The payload itself, not a copy. */
  readonly payload: unknown;
  /** Path of the sending actor, where one is known. */
  readonly from: string | undefined;
}
