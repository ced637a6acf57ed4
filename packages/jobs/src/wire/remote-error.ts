import { JobsError } from '../jobs-error.js';

/** What a peer sent cannot be read. The connection it came on is ended; nothing of the message was acted on. */
export class MessageMalformedError extends JobsError {
  override readonly code = 'ERR_MESSAGE_MALFORMED';

  constructor(what: string, options?: ErrorOptions) {
    super(`message from a peer: ${what}`, options);
  }
}

/** No session with a leader came about in the time given. */
export class LeaderUnreachableError extends JobsError {
  override readonly code = 'ERR_LEADER_UNREACHABLE';
  readonly address: string;

  constructor(address: string, why: string, options?: ErrorOptions) {
    super(`leader at ${address}: ${why}`, options);
    this.address = address;
  }
}

/** The leader does not take this peer: its key, its certificate or its name. Trying again will not help. */
export class LeaderRefusedError extends JobsError {
  override readonly code = 'ERR_LEADER_REFUSED';
  readonly address: string;
  /** The name of the answer, as in docs/wire-protocol.md §7. */
  readonly answer: string;

  constructor(address: string, answer: string, why: string) {
    super(`leader at ${address}: refused this peer: ${answer}: ${why}`);
    this.address = address;
    this.answer = answer;
  }
}
