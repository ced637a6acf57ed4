/**
 * The status word of a mailbox: one small integer says whether the actor may run, and if not, why not.
 *
 *   bit  0      SCHEDULED    in the ready ring, or running now
 *   bit  1      SIGNALS      the signal lane is not empty
 *   bit  2      CLOSED       takes no more messages; a message sent now becomes a dead letter
 *   bit  3      AWAITING     an asynchronous handler or hook has not settled
 *   bit  4      MUTED        sent to an overloaded receiver; waits until it has caught up
 *   bit  5      FAULT        failed; waits for the parent's decision
 *   bit  6      STOPPING     the stop sequence has begun; no further message is handled
 *   bit  7      OVERLOADED   reached its capacity and has not yet caught up
 *   bit  8      SLOW_PATH      has hooks, levels or an exact policy: sends to it take the complete path
 *   bit  9      DRAINING     finishes its backlog, then stops
 *   bit 10      TERMINATED   ended; its slot is free
 *   bit 11      FENCED       an earlier incarnation; every use of its context is refused
 *   bit 12      STOP_REQUESTED   a stop waits to be begun (a signal without a payload, so it needs no lane)
 *   bit 13      KILL_REQUESTED   a kill waits to be begun
 *   bit 14      SETTLED      what the actor was awaiting has settled; the result waits to be taken
 *   bit 15      STUCK        handled nothing for long while it muted senders; mutes none at present
 *   bits 16…    how many suspensions are open, in units of SUSPENSION
 *
 * Invariant: a slot stands in the ready ring at most once, exactly while SCHEDULED is set and the actor is
 * not running.
 */
export const IDLE = 0;
export const SCHEDULED = 1 << 0;
export const SIGNALS = 1 << 1;
export const CLOSED = 1 << 2;
export const AWAITING = 1 << 3;
export const MUTED = 1 << 4;
export const FAULT = 1 << 5;
export const STOPPING = 1 << 6;
export const OVERLOADED = 1 << 7;
export const SLOW_PATH = 1 << 8;
export const DRAINING = 1 << 9;
export const TERMINATED = 1 << 10;
export const FENCED = 1 << 11;
export const STOP_REQUESTED = 1 << 12;
export const KILL_REQUESTED = 1 << 13;
export const SETTLED = 1 << 14;
export const STUCK = 1 << 15;
export const SUSPENSION = 1 << 16;

/** All suspension counts: everything from bit 16 up. */
export const SUSPENDED = ~(SUSPENSION - 1);

/** While any of these is set, no user message is handled. Signals are. */
export const GATED = AWAITING | MUTED | FAULT | STOPPING | TERMINATED | FENCED | SUSPENDED;

/** Runtime business that comes before any message. */
export const SIGNALLED = SIGNALS | STOP_REQUESTED | KILL_REQUESTED | SETTLED;

/** Bits that the next incarnation takes over; back-pressure too: it is about the mailbox, which stays. */
export const KEPT_OVER_RESTART =
  SIGNALS | STOP_REQUESTED | KILL_REQUESTED | CLOSED | DRAINING | MUTED | OVERLOADED | STUCK | SUSPENDED;

/** While any of these is set, a running batch must stop after the current message and look around. */
export const INTERRUPTED = GATED | SIGNALLED;
