import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/troupe.mjs', import.meta.url));
const KILL_AFTER_MS = 10_000;

/**
 * A worker as a process of its own: a new one imports the module anew, with all modules that it imports. One
 * runs at a time; it stays down after an error until the next change.
 */
export class WorkerProcess {
  private readonly words: readonly string[];
  private readonly onEnd: (code: number | null) => void;
  private child: ChildProcess | undefined = undefined;
  private changing: Promise<void> = Promise.resolve();

  /** `onEnd` is called when it ends by itself. */
  constructor(words: readonly string[], onEnd: (code: number | null) => void) {
    this.words = words;
    this.onEnd = onEnd;
  }

  /** Ends the old process in order, then starts the next. Calls wait for each other. */
  restart(): Promise<void> {
    this.changing = this.changing.then(async () => {
      await this.end();
      this.start();
    });
    return this.changing;
  }

  async close(): Promise<void> {
    await this.changing;
    await this.end();
  }

  private start(): void {
    const child = spawn(process.execPath, [bin, 'worker', ...this.words], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // Ctrl-C reaches every process of the terminal; this one is ended by its parent.
      detached: true,
    });
    this.child = child;
    child.once('exit', (code) => {
      if (this.child !== child) return;
      this.child = undefined;
      this.onEnd(code);
    });
  }

  private async end(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    await exited;
    clearTimeout(timer);
  }
}
