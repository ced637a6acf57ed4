import type { RunnerUse } from '../../protocol/worker/worker-messages.js';

/** A warm runner of one worker session. Its credit is two totals, as that of the session (ADR 0403). */
export class SessionRunner {
  use: RunnerUse;
  spent = 0;

  constructor(use: RunnerUse) {
    this.use = use;
  }

  get isFree(): boolean {
    return this.spent < this.use.granted;
  }

  /** False: more credit than it has instances. */
  reported(use: RunnerUse): boolean {
    if (use.granted - this.spent > use.size) return false;
    // Totals only rise: a report that was overtaken changes nothing.
    if (use.granted >= this.use.granted) this.use = use;
    return true;
  }
}
