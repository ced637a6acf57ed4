import type { ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';

/**
 * Answers that no repetition changes: a call that the leader does not know, and a refusal for good. A client
 * that has one never writes the same call or submit again.
 */
export class FinalAnswers {
  private readonly problem: (text: string) => void;
  private readonly answered = new Set<string>();

  constructor(problem: (text: string) => void) {
    this.problem = problem;
  }

  /** `client` names its process. */
  received(client: string, message: ToClient): void {
    if (message.kind === 'answer' && message.answer.kind === 'unsupported')
      this.answered.add(`${client} call ${message.call}`);
    if (message.kind !== 'receipts') return;
    for (const { seq, refusal } of message.items)
      if (refusal?.retryAfterMs === 0) this.answered.add(`${client} submit ${seq}`);
  }

  written(client: string, message: ClientMessage): void {
    if (message.kind === 'call') this.mustBeNew(`${client} call ${message.call}`);
    if (message.kind === 'submit_all') this.mustBeNew(`${client} submit ${message.seq}`);
    if (message.kind === 'submit')
      for (const { seq } of message.items) this.mustBeNew(`${client} submit ${seq}`);
  }

  private mustBeNew(name: string): void {
    if (this.answered.has(name)) this.problem(`${name} is repeated after an answer that is final`);
  }
}
