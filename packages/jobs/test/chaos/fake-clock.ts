import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The wall clock of other processes, by faketime(1); their monotonic clock is the real one. */
export class FakeClock implements AsyncDisposable {
  /** The environment of the processes with this clock. */
  readonly env: Readonly<Record<string, string>>;
  private readonly folder: string;
  private offsetSeconds = 0;

  private constructor(folder: string, library: string) {
    this.folder = folder;
    this.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: join(folder, 'offset'),
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  static async start(): Promise<FakeClock | { readonly reason: string }> {
    let library: string;
    try {
      library = (await run('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'])).stdout.trim();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { reason: code === 'ENOENT' ? 'faketime is not installed' : (message.split('\n')[0] ?? '') };
    }
    const clock = new FakeClock(await mkdtemp(join(tmpdir(), 'troupe-clock-')), library);
    await clock.step(0);
    if (await clock.isStepped()) return clock;
    await clock[Symbol.asyncDispose]();
    return { reason: 'a clock step with faketime has no effect on node' };
  }

  /** Forward or back. A process sees it within a second. */
  async step(seconds: number): Promise<void> {
    this.offsetSeconds += seconds;
    const sign = this.offsetSeconds < 0 ? '' : '+';
    const file = join(this.folder, 'offset');
    await writeFile(`${file}.new`, `${sign}${this.offsetSeconds}\n`);
    await rename(`${file}.new`, file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Whether a step of a day reaches a process. */
  private async isStepped(): Promise<boolean> {
    await this.step(86_400);
    const env = { ...process.env, ...this.env };
    const { stdout } = await run(process.execPath, ['-p', 'Date.now()'], { env });
    await this.step(-86_400);
    return Number(stdout) > Date.now() + 80_000_000;
  }
}
