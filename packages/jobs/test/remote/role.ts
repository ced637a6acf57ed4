import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartWorkerOptions } from '@troupe/jobs';

export type RoleEvent = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A role in a process of its own. Killed, if it still lives, when the test's block ends. */
export class Role implements AsyncDisposable {
  readonly events: RoleEvent[] = [];
  readonly exited: Promise<number | string>;
  private readonly child: ChildProcess;
  private readonly waiting = new Set<() => void>();
  private errors = '';

  constructor(args: readonly string[]) {
    const program = fileURLToPath(new URL('./role-process.js', import.meta.url));
    this.child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    let text = '';
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line) as RoleEvent);
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

  /** The first event that fits, whether it has come or will. Fails when the process ends without it. */
  async event(fits: (event: RoleEvent) => boolean): Promise<RoleEvent> {
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

export async function leaderRole(dir: string, port = 0): Promise<Role & { readonly port: number }> {
  const role = await new Role(['leader', dir, String(port)]).ready();
  const ready = await role.event((event) => event.kind === 'ready');
  return Object.assign(role, { port: Number(ready['port']) });
}

export function workerRole(
  port: number,
  name: string,
  slots = 4,
  more: Partial<StartWorkerOptions> = {},
): Promise<Role> {
  return new Role(['worker', String(port), name, String(slots), JSON.stringify(more)]).ready();
}

export function clientRole(port: number, name: string): Promise<Role> {
  return new Role(['client', String(port), name]).ready();
}

/** Everybody a test has started, replaced ones included: nobody outlives it. */
export class Cast implements AsyncDisposable {
  private readonly roles: Role[] = [];

  async add<R extends Role>(starting: Promise<R>): Promise<R> {
    const role = await starting;
    this.roles.push(role);
    return role;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.roles.map((role) => role[Symbol.asyncDispose]()));
  }
}

/** A folder of its own, removed at the end of the block. */
export async function stateFolder(): Promise<AsyncDisposable & { readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-network-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}
