import { wholeNumber } from '@troupe/core/option-check';
import { checkOptions, YEAR_MS } from '../../option-check.js';
import type { OperatorCalls } from '../calls/operator-calls.js';
import { WAIT_OPTIONS, type WaitOptions } from '../calls/wait-limit.js';

export interface StopWorkerOptions extends WaitOptions {
  /** Attempts that have not ended after so many milliseconds are handed to other workers. Default 30,000. */
  readonly drainMs?: number | undefined;
}

const STOP_OPTIONS = { ...WAIT_OPTIONS, drainMs: wholeNumber(0, YEAR_MS) };

/**
 * Workers from afar, each by its name, or by name and incarnation (`w~1a2b`) for one process of it. Rejects
 * with RequestRefusedError for a worker that is not connected.
 */
export class Workers {
  private readonly operator: Pick<OperatorCalls, 'quietWorker' | 'stopWorker'>;

  constructor(operator: Pick<OperatorCalls, 'quietWorker' | 'stopWorker'>) {
    this.operator = operator;
  }

  /** It gets no more jobs, over restarts of it and of the leader. Resolves with its number of processes. */
  quiet(worker: string, options: WaitOptions = {}): Promise<number> {
    return this.operator.quietWorker(worker, true, options);
  }

  /** It gets jobs again. */
  resume(worker: string, options: WaitOptions = {}): Promise<number> {
    return this.operator.quietWorker(worker, false, options);
  }

  /** It gets no more jobs, and its session ends for good with its last attempt: `onRefused` is called. */
  async stop(worker: string, options: StopWorkerOptions = {}): Promise<number> {
    checkOptions('workers.stop', options, STOP_OPTIONS);
    return this.operator.stopWorker(worker, options.drainMs ?? 30_000, options);
  }
}
