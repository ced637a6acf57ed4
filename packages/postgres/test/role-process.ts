import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface RoleEvent {
  readonly kind: string;
  readonly [name: string]: unknown;
}

const main = fileURLToPath(new URL('./role-process-main.js', import.meta.url));

/** A leader or a worker in a process of its own. */
export class RoleProcess implements AsyncDisposable {
  readonly events: RoleEvent[] = [];
  readonly exited: Promise<number | string | null>;
  private readonly child: ChildProcess;
  private readonly waiting = new Set<() => void>();

  constructor(...args: readonly string[]) {
    this.child = spawn(process.execPath, [main, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve(code ?? signal));
    });
    void this.exited.then(() => this.changed());
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      this.events.push(JSON.parse(line) as RoleEvent);
      this.changed();
    });
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The first event of that kind. */
  async event(kind: string): Promise<RoleEvent> {
    for (;;) {
      const found = this.events.find((event) => event.kind === kind);
      if (found !== undefined) return found;
      if (!this.isAlive) throw new Error(`ended without ${kind}: ${JSON.stringify(this.events)}`);
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isAlive) return;
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private changed(): void {
    const all = [...this.waiting];
    this.waiting.clear();
    for (const resolve of all) resolve();
  }
}
