import { checkOption } from '@troupe/core/option-check';
import { QUEUE_LIMIT_RULES, type QueueLimits, type QueueMode, queueRule } from '../../job/queue-control.js';
import { checkOptions, definitionError } from '../../option-check.js';
import type { QueueView } from '../../protocol/client/admin-messages.js';
import type { AdminCalls } from '../calls/admin-calls.js';
import { WAIT_OPTIONS, type WaitOptions } from '../calls/wait-limit.js';

/** One queue of a leader, or all together. What is set stays until it is changed, over restarts. */
export class QueueHandle {
  /** As it was given. */
  readonly name: string;
  private readonly admin: AdminCalls;

  constructor(admin: AdminCalls, name: string) {
    checkOption('queue', name, queueRule, definitionError);
    this.admin = admin;
    this.name = name;
  }

  /** No job begins until it is resumed; submits are accepted, and running attempts go on. */
  pause(options: WaitOptions = {}): Promise<QueueView> {
    return this.setMode('pause', 'paused', options);
  }

  /** Submits are refused until it is resumed; accepted jobs go on. */
  drain(options: WaitOptions = {}): Promise<QueueView> {
    return this.setMode('drain', 'draining', options);
  }

  /** After `pause` or `drain`. */
  resume(options: WaitOptions = {}): Promise<QueueView> {
    return this.setMode('resume', 'open', options);
  }

  /** In place of all limits it has; `{}`: none. */
  async setLimits(limits: QueueLimits, options: WaitOptions = {}): Promise<QueueView> {
    checkOptions('setLimits', limits, QUEUE_LIMIT_RULES);
    checkOptions('setLimits', options, WAIT_OPTIONS);
    return this.admin.setLimits(this.name, limits, options);
  }

  private async setMode(what: string, mode: QueueMode, options: WaitOptions): Promise<QueueView> {
    checkOptions(what, options, WAIT_OPTIONS);
    return this.admin.setMode(this.name, mode, options);
  }
}
