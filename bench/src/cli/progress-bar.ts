import { figureText } from '../report/number-format.js';
import type { Job } from '../runner/process-plan.js';
import type { Absence, Row } from '../runner/report.js';
import type { Watcher } from '../runner/run-suite.js';

/** Where progress is drawn; a terminal or a log file. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  return minutes === 0 ? `${whole} s` : `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** A bar with the time left on a terminal; one plain line per row elsewhere. */
export class Progress implements Watcher {
  private readonly screen: Screen;
  private readonly now: () => number;
  private readonly startedAt: number;
  private drawn = false;

  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.screen = screen;
    this.now = now;
    this.startedAt = now();
  }

  started(job: Job, done: number, total: number): void {
    if (this.screen.isTTY !== true) return;
    const share = total === 0 ? 1 : done / total;
    const width = 24;
    const filled = Math.round(share * width);
    const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
    const text = `${bar} ${done}/${total} ${this.left(done, total)}  ${job.case.benchmark} · ${job.system}`;
    this.screen.write(`\r\u001b[2K${text.slice(0, this.width() - 1)}`);
    this.drawn = true;
  }

  finished(job: Job, done: number, total: number): void {
    if (done === total) this.clear();
    else this.started(job, done, total);
  }

  row(row: Row): void {
    this.line(`${row.benchmark.padEnd(22)} ${row.system.padEnd(12)} ${figureText(row)}`);
  }

  refused(absence: Absence): void {
    const reason = absence.reason.split('\n')[0] ?? '';
    this.line(`${absence.benchmark.padEnd(22)} ${absence.system.padEnd(12)} refused: ${reason}`);
  }

  clear(): void {
    if (this.drawn) this.screen.write('\r\u001b[2K');
    this.drawn = false;
  }

  /** A pseudo-terminal may print that it has no columns at all. */
  private width(): number {
    const { columns } = this.screen;
    return columns === undefined || columns === 0 ? 100 : columns;
  }

  private left(done: number, total: number): string {
    if (done === 0) return 'ETA –';
    const seconds = (this.now() - this.startedAt) / 1_000;
    return `ETA ${duration((seconds / done) * (total - done))}`;
  }

  private line(text: string): void {
    this.clear();
    this.screen.write(`${text}\n`);
  }
}
