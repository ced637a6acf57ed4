import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { renderLine, type ScreenLine } from './screen-line.js';
import type { ScreenSize } from './top-screen.js';

interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
}

/**
 * The terminal as a whole screen: the alternate buffer, raw keys, and its size. `close` gives the terminal
 * back as it was.
 */
export class FullScreen {
  private readonly input: ReadStream;
  private readonly output: WriteStream;
  private readonly onKey: (key: string) => void;
  private readonly onResize: () => void;
  private isClosed = false;
  private readonly isColoured = (process.env['NO_COLOR'] ?? '') === '';

  constructor(input: ReadStream, output: WriteStream, onKey: (key: string) => void, onResize: () => void) {
    this.input = input;
    this.output = output;
    this.onKey = onKey;
    this.onResize = onResize;
    emitKeypressEvents(input);
    input.setRawMode(true);
    input.on('keypress', this.keyPressed).resume();
    output.on('resize', this.onResize);
    // A character may be wider than one column: the terminal cuts its line, and the rows stay in place.
    output.write('\u001b[?1049h\u001b[?25l\u001b[?7l');
    // However the process ends, the shell gets its terminal back.
    process.once('exit', this.close);
  }

  get size(): ScreenSize {
    const { columns = 80, rows = 24 } = this.output;
    return { columns, rows };
  }

  /** Every row is written over: nothing flickers, and nothing of a wider screen stays. */
  draw(lines: readonly ScreenLine[]): void {
    const { columns } = this.size;
    const { isColoured } = this;
    const rows = lines.map((one) => `${renderLine(one, columns, { isColoured })}\u001b[K`);
    this.output.write(`\u001b[H${rows.join('\r\n')}\u001b[J`);
  }

  readonly close = (): void => {
    if (this.isClosed) return;
    this.isClosed = true;
    process.off('exit', this.close);
    this.input.off('keypress', this.keyPressed);
    this.output.off('resize', this.onResize);
    this.input.setRawMode(false);
    this.input.pause();
    this.output.write('\u001b[?7h\u001b[?25h\u001b[?1049l');
  };

  private readonly keyPressed = (_text: string | undefined, { name, sequence, ctrl }: Key): void => {
    if (ctrl === true) return name === 'c' ? this.onKey('ctrl-c') : undefined;
    this.onKey(name ?? sequence ?? '');
  };
}
