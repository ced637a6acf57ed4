/**
 * Behaviour of a full mailbox.
 *
 *   mute-sender   accepts, and does not run the sending actor again until the receiver has caught up
 *   reject        refuses the new message
 *   drop-newest   drops the new message
 *   drop-oldest   drops the oldest message to make room
 *   grow          accepts, up to the system's `queuedMax`
 */
export type OverflowPolicy = 'mute-sender' | 'reject' | 'drop-newest' | 'drop-oldest' | 'grow';

export const OVERFLOW_POLICIES: readonly OverflowPolicy[] = [
  'mute-sender',
  'reject',
  'drop-newest',
  'drop-oldest',
  'grow',
];

/** The fate of a message to a full mailbox. */
export type FullAnswer = 'accept' | 'accept-and-mute' | 'evict-oldest' | 'refuse';

/**
 * Pure: the whole policy in one place. Senders that can wait (`offer`, `send`) get an answer rather than
 * being muted.
 */
export function whenFull(policy: OverflowPolicy, canWait: boolean): FullAnswer {
  switch (policy) {
    case 'mute-sender':
      return canWait ? 'refuse' : 'accept-and-mute';
    case 'drop-oldest':
      return 'evict-oldest';
    case 'grow':
      return 'accept';
    case 'reject':
    case 'drop-newest':
      return 'refuse';
    default:
      return policy satisfies never;
  }
}
