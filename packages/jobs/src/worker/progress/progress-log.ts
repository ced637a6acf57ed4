import {
  type AttemptProgress,
  PROGRESS_LINES_MAX,
  PROGRESS_TEXT_MAX,
} from '../../protocol/worker/progress-messages.js';

/** Progress and log lines of one attempt that have not left the worker. */
export class ProgressLog {
  private share: number | undefined = undefined;
  private note: string | undefined = undefined;
  private waitsForRunner: string | undefined = undefined;
  /** The latest; a handler that writes faster than they leave loses the oldest. */
  private lines: string[] = [];
  private dropped = 0;

  setProgress(share: number, note: string | undefined): void {
    this.share = share;
    if (note !== undefined) this.note = cut(note);
  }

  setWait(runner: string): void {
    this.waitsForRunner = runner;
  }

  add(line: string): void {
    this.lines.push(cut(line));
    if (this.lines.length < 2 * PROGRESS_LINES_MAX) return;
    this.dropped += this.lines.length - PROGRESS_LINES_MAX;
    this.lines = this.lines.slice(-PROGRESS_LINES_MAX);
  }

  take(job: number, attempt: number): AttemptProgress {
    const lines = this.lines.slice(-PROGRESS_LINES_MAX);
    const dropped = this.dropped + this.lines.length - lines.length;
    this.lines = [];
    this.dropped = 0;
    const { share, note, waitsForRunner } = this;
    return { job, attempt, share, note, waitsForRunner, lines, dropped };
  }
}

function cut(text: string): string {
  return text.length > PROGRESS_TEXT_MAX ? `${text.slice(0, PROGRESS_TEXT_MAX)}…` : text;
}
