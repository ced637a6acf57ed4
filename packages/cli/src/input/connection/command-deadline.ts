import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

/** The time that a command may take, counted from its start. */
export class CommandDeadline {
  private readonly timeoutMs: number | undefined;
  private readonly startedAt = performance.now();

  constructor(timeoutMs: number | undefined) {
    this.timeoutMs = timeoutMs;
  }

  /** The time left, at most `atMost`. */
  left(atMost?: number): { readonly withinMs?: number } {
    const { timeoutMs } = this;
    const left =
      timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (performance.now() - this.startedAt));
    if (left === undefined) return atMost === undefined ? {} : { withinMs: atMost };
    return { withinMs: Math.round(Math.min(left, atMost ?? left)) };
  }

  /** Rejects when the time is over, for work that takes no time limit itself. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { withinMs } = this.left();
    if (withinMs === undefined) return work;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_resolve, reject) => {
      const text = `not done within ${this.timeoutMs} ms; the request may still be carried out`;
      timer = setTimeout(() => reject(new CliError('ERR_CLI_TIMEOUT', ExitCode.retryLater, text)), withinMs);
    });
    return Promise.race([work, over]).finally(() => clearTimeout(timer));
  }
}
