import { jobId } from '../job/job-id.js';
import type { JobsEvent } from '../leader/jobs-event.js';
import type { AttemptFailure } from '../worker/worker-options.js';

/** The events of each job of a test, in lines with their virtual time. */
export class JobHistories {
  /** The tag of the leader's ids. */
  tag = '';
  private readonly now: () => number;
  private readonly lines = new Map<string, string[]>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** Oldest first; empty for a job without events. */
  of(id: string): readonly string[] {
    return this.lines.get(id) ?? [];
  }

  readonly observe = (event: JobsEvent): void => {
    const text = textOf(event);
    if (text !== undefined && 'job' in event) this.add(jobId(this.tag, event.job), text);
  };

  readonly attemptFailed = ({ jobId: id, attempt, outcome, failure }: AttemptFailure): void => {
    this.add(id, `attempt ${attempt} ${outcome}: ${failure.name}: ${failure.message}`);
  };

  private add(id: string, text: string): void {
    const lines = this.lines.get(id) ?? [];
    this.lines.set(id, lines);
    lines.push(`${String(this.now()).padStart(8)} ms  ${text}`);
  }
}

function textOf(event: JobsEvent): string | undefined {
  switch (event.kind) {
    case 'accepted':
      return `${event.exec} accepted`;
    case 'assigned':
      return `attempt ${event.attempt} begun`;
    case 'completed':
      return 'done';
    case 'requeued':
      return `queued again (${event.cause}), due in ${event.delayMs} ms`;
    case 'dead':
      return `dead letter: ${event.reason}`;
    case 'cancelled':
      return 'cancelled';
    case 'stale':
      return `attempt ${event.attempt}: its result came too late and changed nothing`;
    default:
      return undefined;
  }
}
