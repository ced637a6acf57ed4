import type { OverflowPolicy } from './overflow-policy.js';

/**
 * A message handler as the scheduler calls it. Types are checked where it was defined and where it is sent
 * to.
 */
export type Handler = (context: never, payload: never) => unknown;

/** The settings that all mailboxes of one actor type share. Reached from each mailbox by one pointer. */
export interface MailboxSettings {
  readonly handlers: readonly Handler[];
  readonly capacity: number;
  /**
   * Length at which the mailbox refuses or evicts: its capacity; under `mute-sender` 64 times that, for
   * senders that cannot be muted; infinite under `grow`.
   */
  readonly hardCapacity: number;
  /** The same for the synchronous part of a handler: infinite under `mute-sender`, which is muted instead. */
  readonly handlerCapacity: number;
  /** An overloaded mailbox has caught up when no more than this many messages are left. */
  readonly lowWater: number;
  readonly overflow: OverflowPolicy;
  /** Level of each handler, 0 first; undefined when all are equal. */
  readonly levels: readonly number[] | undefined;
  /** Messages of one actor in a turn, at most. */
  readonly throughput: number;
  /** Messages in a turn that are known to fit into a time slice; up to `throughput`. */
  turnMax: number;
  /** Status of an idle actor of this type: SLOW_PATH when its messages must take the complete path. */
  readonly idleStatus: number;
  /** Messages run through middleware one by one. */
  readonly hasPipeline: boolean;
  /** A middleware wants to give every message sent here a context. */
  readonly hasSendHook: boolean;
}
