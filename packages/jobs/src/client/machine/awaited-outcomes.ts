import type { JobOutcome } from '../../protocol/client/client-messages.js';
import type { ClientEffects } from './client-effects.js';

/**
 * The calls that wait for outcomes, by job. One `await` message to the leader serves all of a job. A single
 * call is the usual case and costs no array.
 */
export class AwaitedOutcomes {
  private readonly waiting = new Map<number, number | readonly number[]>();
  private readonly effects: Pick<ClientEffects, 'jobEnded'>;

  constructor(effects: Pick<ClientEffects, 'jobEnded'>) {
    this.effects = effects;
  }

  /** True for the first call of a job: the leader has to know. */
  add(job: number, call: number): boolean {
    const others = this.waiting.get(job);
    this.waiting.set(job, others === undefined ? call : [...listOf(others), call]);
    return others === undefined;
  }

  remove(job: number, call: number): void {
    const left = listOf(this.waiting.get(job)).filter((one) => one !== call);
    if (left.length === 0) this.waiting.delete(job);
    else this.waiting.set(job, left);
  }

  jobs(): number[] {
    return [...this.waiting.keys()];
  }

  settleAll(outcomes: readonly JobOutcome[]): void {
    for (const outcome of outcomes) {
      const calls = this.waiting.get(outcome.job);
      if (calls === undefined) continue;
      this.waiting.delete(outcome.job);
      if (typeof calls === 'number') this.effects.jobEnded(calls, outcome);
      else for (const call of calls) this.effects.jobEnded(call, outcome);
    }
  }

  clear(): void {
    this.waiting.clear();
  }
}

function listOf(calls: number | readonly number[] | undefined): readonly number[] {
  if (calls === undefined) return [];
  return typeof calls === 'number' ? [calls] : calls;
}
