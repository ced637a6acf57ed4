import { ExitCode } from '../exit-code.js';

/**
 * The output of a command. Results go to out, messages for people to err, so that a pipe sees results only.
 */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** A part of a line, as it comes. Absent: parts are lines. */
  write?(text: string): void;
  /** err is a terminal: progress may be drawn there. */
  readonly isInteractive: boolean;
  /** out is a terminal too: a progress bar would stand between its lines. */
  readonly showsResults?: boolean;
  /** The width of out, where it is a terminal. */
  readonly columns?: number | undefined;
  /** Replaces the line drawn last. */
  draw(text: string): void;
}

export function processTerminal(): Terminal {
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    write: (text) => void process.stdout.write(text),
    err: (line) => void process.stderr.write(`${line}\n`),
    isInteractive: process.stderr.isTTY === true,
    showsResults: process.stdout.isTTY === true,
    columns: process.stdout.isTTY === true ? process.stdout.columns : undefined,
    draw: (text) => void process.stderr.write(`\r\u001b[K${text}`),
  };
}

/**
 * A reader that closed its end (a pipe to head) ends the command without an error; any other write error is
 * one.
 */
export function exitWhenReaderCloses(): void {
  process.stderr.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? ExitCode.ok : ExitCode.io),
  );
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ExitCode.ok);
    process.stderr.write(`troupe: standard output: ${error.message}; the command itself was carried out\n`);
    process.exit(ExitCode.io);
  });
}

/** Resolves when all results are written or have failed. */
export function outputFlushed(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => setImmediate(resolve)));
}
