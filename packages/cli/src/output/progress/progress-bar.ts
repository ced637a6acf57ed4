import type { Terminal } from '../terminal.js';

const CELLS = 30;
const EVERY_MS = 100;

/** A progress bar for long work. It draws only on an interactive terminal. */
export class ProgressBar {
  private readonly terminal: Terminal;
  private readonly label: string;
  private readonly total: number;
  private readonly startedAt = performance.now();
  private drawnAt = Number.NEGATIVE_INFINITY;
  private isOver = false;

  constructor(terminal: Terminal, label: string, total: number) {
    this.terminal = terminal;
    this.label = label;
    this.total = total;
  }

  /** `total` may grow while the work goes on. */
  at(done: number, total = this.total): void {
    const now = performance.now();
    if (!this.terminal.isInteractive || this.isOver || (now - this.drawnAt < EVERY_MS && done < total))
      return;
    this.drawnAt = now;
    this.terminal.draw(barOf(this.label, done, total, (now - this.startedAt) / 1_000));
  }

  /** Clears the line of the bar. */
  end(): void {
    this.isOver = true;
    if (this.terminal.isInteractive && this.drawnAt > Number.NEGATIVE_INFINITY) this.terminal.draw('');
  }
}

function barOf(label: string, done: number, total: number, seconds: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * CELLS);
  const rate = seconds > 0 ? Math.round(done / seconds) : 0;
  const bar = `${'█'.repeat(filled)}${'░'.repeat(CELLS - filled)}`;
  return `${label} ${bar} ${done.toLocaleString('en')}/${total.toLocaleString('en')}  ${rate.toLocaleString('en')}/s`;
}
