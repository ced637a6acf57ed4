import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LeaderServerOptions, StartWorkerOptions } from '@troupe/jobs';

export type ProcessEvent = Readonly<Record<string, unknown>> & { readonly kind: string };

/** How a process is started. */
export interface Launch {
  /** Words before those of node, such as `unshare --pid`. */
  readonly command?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A role in a process of its own. Killed at the end of the block if it is still alive. */
export class RoleProcess implements AsyncDisposable {
  readonly events: ProcessEvent[] = [];
  readonly exited: Promise<number | string>;
  private readonly child: ChildProcess;
  private readonly waiting = new Set<() => void>();
  private errors = '';

  constructor(args: readonly string[], { command = [], env = {} }: Launch = {}) {
    const program = fileURLToPath(new URL('./role-process-main.js', import.meta.url));
    const [file = '', ...words] = [...command, process.execPath, program, ...args];
    this.child = spawn(file, words, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let text = '';
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line) as ProcessEvent);
      this.wake();
    });
    this.child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.errors += chunk;
    });
    this.child.stdin?.on('error', () => undefined);
    this.exited = new Promise((resolve) =>
      this.child.once('exit', (code, signal) => resolve(code ?? signal ?? 'gone')),
    );
    void this.exited.then(() => this.wake());
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** The first event that fits, past or future. Rejects when the process ends without it. */
  async event(fits: (event: ProcessEvent) => boolean): Promise<ProcessEvent> {
    for (;;) {
      const found = this.events.find(fits);
      if (found !== undefined) return found;
      if (!this.alive) throw new Error(`the process ended without it: ${this.errors.slice(-2_000)}`);
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  async ready(): Promise<this> {
    await this.event((event) => event.kind === 'ready');
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.alive) await this.kill();
  }

  private wake(): void {
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }
}

export async function leaderProcess(
  dir: string,
  port = 0,
  more: Partial<LeaderServerOptions> = {},
  launch: Launch = {},
): Promise<RoleProcess & { readonly port: number }> {
  const role = await new RoleProcess(['leader', dir, String(port), JSON.stringify(more)], launch).ready();
  const ready = await role.event((event) => event.kind === 'ready');
  return Object.assign(role, { port: Number(ready['port']) });
}

export function workerProcess(
  port: number,
  name: string,
  slots = 4,
  more: Partial<StartWorkerOptions> = {},
): Promise<RoleProcess> {
  return new RoleProcess(['worker', String(port), name, String(slots), JSON.stringify(more)]).ready();
}

export function clientProcess(port: number, name: string): Promise<RoleProcess> {
  return new RoleProcess(['client', String(port), name]).ready();
}

export function feederProcess(port: number, name: string): Promise<RoleProcess> {
  return new RoleProcess(['feeder', String(port), name]).ready();
}

/** All processes of a test, replaced ones included, ended with it. */
export class RoleProcesses implements AsyncDisposable {
  private readonly roles: RoleProcess[] = [];

  async add<R extends RoleProcess>(starting: Promise<R>): Promise<R> {
    const role = await starting;
    this.roles.push(role);
    return role;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.roles.map((role) => role[Symbol.asyncDispose]()));
  }
}

/** A folder of its own, removed at the end of the block. */
export async function tempFolder(): Promise<AsyncDisposable & { readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-network-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}
