import { ExitCode } from '../exit-code.js';

/** Where a command writes. Results go to out, everything for people to err, so that a pipe sees results only. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Someone looks at err: progress may be drawn there. */
  readonly isInteractive: boolean;
  /** Someone looks at out too: what is drawn would stand between its lines. */
  readonly showsResults?: boolean;
  /** Draws over the line that is being drawn. */
  draw(text: string): void;
}

export function processTerminal(): Terminal {
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    isInteractive: process.stderr.isTTY === true,
    showsResults: process.stdout.isTTY === true,
    draw: (text) => void process.stderr.write(`\r\u001b[K${text}`),
  };
}

/** A reader that went away (a pipe to head) is no failure of ours; a result that could not be written is one. */
export function endWithReader(): void {
  process.stderr.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? ExitCode.ok : ExitCode.io),
  );
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ExitCode.ok);
    process.stderr.write(`troupe: standard output: ${error.message}; what was asked is done all the same\n`);
    process.exit(ExitCode.io);
  });
}

/** Resolves when all results are written, or it is known that they are not. */
export function written(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => setImmediate(resolve)));
}
