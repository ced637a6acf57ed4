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

/** A reader that went away (a pipe to head) is no failure of ours. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  }
}
