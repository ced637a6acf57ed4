import { headlineText } from '../report/number-format.js';
import type { PlannedProcess } from '../runner/process-plan.js';
import type { MissingRow, Row } from '../runner/report.js';
import type { RunObserver } from '../runner/run-suite.js';

/** The output of the progress bar: a terminal or a log file. */
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

/** On a terminal a bar with the remaining time; elsewhere one plain line per row. */
export class ProgressBar implements RunObserver {
  private readonly screen: Screen;
  private readonly now: () => number;
  private readonly startedAt: number;
  private drawn = false;

  constructor(screen: Screen, now: () => number = () => performance.now()) {
    this.screen = screen;
    this.now = now;
    this.startedAt = now();
  }

  started(planned: PlannedProcess, done: number, total: number): void {
    if (this.screen.isTTY !== true) return;
    const share = total === 0 ? 1 : done / total;
    const width = 24;
    const filled = Math.round(share * width);
    const bar = '█'.repeat(filled) + '░'.repeat(width - filled);
    const text = `${bar} ${done}/${total} ${this.remainingTime(done, total)}  ${planned.case.benchmark} · ${planned.system}`;
    this.screen.write(`\r\u001b[2K${text.slice(0, this.width() - 1)}`);
    this.drawn = true;
  }

  finished(planned: PlannedProcess, done: number, total: number): void {
    if (done === total) this.clear();
    else this.started(planned, done, total);
  }

  row(row: Row): void {
    this.printLine(`${row.benchmark.padEnd(22)} ${row.system.padEnd(12)} ${headlineText(row)}`);
  }

  refused(missing: MissingRow): void {
    const reason = missing.reason.split('\n')[0] ?? '';
    this.printLine(`${missing.benchmark.padEnd(22)} ${missing.system.padEnd(12)} refused: ${reason}`);
  }

  clear(): void {
    if (this.drawn) this.screen.write('\r\u001b[2K');
    this.drawn = false;
  }

  /** A pseudo-terminal may report zero columns. */
  private width(): number {
    const { columns } = this.screen;
    return columns === undefined || columns === 0 ? 100 : columns;
  }

  private remainingTime(done: number, total: number): string {
    if (done === 0) return 'ETA –';
    const seconds = (this.now() - this.startedAt) / 1_000;
    return `ETA ${duration((seconds / done) * (total - done))}`;
  }

  private printLine(text: string): void {
    this.clear();
    this.screen.write(`${text}\n`);
  }
}
