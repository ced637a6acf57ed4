/**
 * The mailbox of a session. The leader offers one message per kind and turn, and keeps the rest of a session
 * that is full.
 */
export const SESSION_MAILBOX = { capacity: 64 } as const;
