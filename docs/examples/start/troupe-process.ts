import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const troupe = fileURLToPath(new URL('../../../../packages/cli/bin/troupe.mjs', import.meta.url));

/** With the address or URL that it serves on. */
export type StartedProcess = TroupeProcess & { readonly address: string };

/** A `troupe <command> …` in a process of its own. */
export class TroupeProcess {
  private readonly child: ChildProcess;
  private readonly exited: Promise<void>;

  private constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [troupe, ...args, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.exited = new Promise((resolve) => this.child.once('exit', () => resolve()));
  }

  /** Resolves with the first line that the process prints: it is ready then. */
  static async start(...args: readonly string[]): Promise<StartedProcess> {
    const started = new TroupeProcess(args);
    const line = await new Promise<string>((resolve, reject) => {
      started.child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()));
      void started.exited.then(() => reject(new Error(`troupe ${args.join(' ')} did not start`)));
    });
    const { address, url } = JSON.parse(line) as { address?: string; url?: string };
    return Object.assign(started, { address: address ?? url ?? '' });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}
