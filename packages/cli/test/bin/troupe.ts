import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runTroupe } from '@troupe/cli';
import { type HandledJob, type LeaderServerOptions, startLeader, startWorker } from '@troupe/jobs';

export const bin = fileURLToPath(new URL('../../bin/troupe.mjs', import.meta.url));
const jobs = new URL('../../../jobs/dist/index.js', import.meta.url).href;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command as a shell would. */
export function troupe(
  args: readonly string[],
  options: { stdin?: string; cwd?: string } = {},
): Promise<Ended> {
  const child = start(args, options.cwd);
  child.stdin?.end(options.stdin ?? '');
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

/** The same inside this process, for commands that need no process of their own. */
export async function inProcess(args: readonly string[]): Promise<Ended> {
  let out = '';
  let err = '';
  const code = await runTroupe(args, {
    out: (line) => {
      out += `${line}\n`;
    },
    err: (line) => {
      err += `${line}\n`;
    },
    isInteractive: false,
    draw: () => undefined,
  });
  return { code, out, err };
}

/** The values that a command printed with --json, one per line. */
export function lines(ended: Ended): Record<string, unknown>[] {
  return ended.out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The command as a process of its own, for a test that writes to it. */
export function start(
  args: readonly string[],
  cwd?: string,
  more: NodeJS.ProcessEnv = {},
  nodeFlags: readonly string[] = [],
): ChildProcess {
  const { TROUPE_LEADER: _leader, TROUPE_KEY: _key, ...own } = process.env;
  const env = { ...own, ...more };
  return spawn(process.execPath, [...nodeFlags, bin, ...args], cwd === undefined ? { env } : { env, cwd });
}

/** A command that keeps running: ready when it has printed its first line. */
export class Running implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly first: Promise<Record<string, unknown>>;
  /** The text on standard error so far. */
  err = '';
  private out = '';

  /** The text on standard output so far. */
  get printed(): string {
    return this.out;
  }

  constructor(args: readonly string[], cwd?: string, nodeFlags: readonly string[] = []) {
    this.child = start([...args, '--json'], cwd, {}, nodeFlags);
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.err += chunk.toString();
    });
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
    this.first = new Promise((resolve, reject) => {
      this.child.stdout?.on('data', (chunk: Buffer) => {
        this.out += chunk.toString();
        if (this.out.includes('\n'))
          resolve(JSON.parse(this.out.slice(0, this.out.indexOf('\n'))) as Record<string, unknown>);
      });
      void this.exited.then((code) =>
        reject(new Error(`ended with ${code} before it was ready: ${this.err}`)),
      );
    });
    this.first.catch(() => undefined);
  }

  /** Resolves when the text appears on either stream. */
  async said(what: RegExp): Promise<void> {
    while (!what.test(this.out + this.err)) {
      if (this.child.exitCode !== null) throw new Error(`ended without ${what}: ${this.out}${this.err}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.end('SIGKILL');
  }
}

export interface Stage extends AsyncDisposable {
  readonly dir: string;
  /** Where the leader listens. */
  readonly at: string;
  readonly leader: Running;
}

const HANDLERS = `import { defineJob, handle } from ${JSON.stringify(jobs)};
const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
const job = (name) => defineJob(name, { input: any, output: any });
export const add = handle(job('math.add'), ([a, b]) => a + b);
export const others = [
  handle(job('math.fail'), () => { throw new Error('it never works'); }),
  handle(job('text.echo'), (value) => value),
  handle(job('slow.nap'), (ms) => new Promise((resolve) => setTimeout(() => resolve('napped'), ms))),
  handle(job('slow.pages'), (ms, { progress, log, signal }) => {
    progress(0.4, 'page 12');
    log('read \\u001b[31mpage 12');
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => { clearTimeout(timer); resolve('ended'); });
    });
  }),
  handle(job('cpu.spin'), (ms) => { const until = Date.now() + ms; while (Date.now() < until); return 'spun'; }),
];
`;

/** A module with a warm runner. */
export const WARM_HANDLERS = `import { defineJob, handle } from ${JSON.stringify(jobs)};
const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
export const nap = handle(defineJob('warm.nap', { input: any, output: any, useStatic: true }), {
  load: () => 'loaded',
  run: (ms, { loaded }) => new Promise((resolve) => setTimeout(() => resolve(loaded), ms)),
});
`;

/** A folder of its own with a module of handlers in it. */
export async function folder(): Promise<AsyncDisposable & { readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-cli-'));
  await writeFile(join(dir, 'handlers.mjs'), HANDLERS);
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/** A leader of its own, by the command. */
export async function stage(options: readonly string[] = []): Promise<Stage> {
  const own = await folder();
  const leader = new Running(['leader', '--port', '0', '--dir', join(own.dir, 'state'), ...options]);
  const { address } = await leader.first;
  return {
    dir: own.dir,
    at: String(address),
    leader,
    [Symbol.asyncDispose]: async () => {
      await leader[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

export interface OwnLeader extends AsyncDisposable {
  readonly dir: string;
  readonly at: string;
  end(): Promise<void>;
}

/** A leader in this process, for tests of other commands: it starts in a tenth of the time. */
export async function ownLeader(options: Partial<LeaderServerOptions> = {}): Promise<OwnLeader> {
  const own = await folder();
  const leader = await startLeader({
    dir: join(own.dir, 'state'),
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= leader.close({ withinMs: 0 });
    return ended;
  };
  return {
    dir: own.dir,
    at: 'port' in leader.address ? `127.0.0.1:${leader.address.port}` : '',
    end,
    [Symbol.asyncDispose]: async () => {
      await end();
      await own[Symbol.asyncDispose]();
    },
  };
}

/** A worker in this process, with the handlers of the folder. */
export async function ownWorker({ dir, at }: OwnLeader): Promise<AsyncDisposable> {
  const exported = (await import(pathToFileURL(join(dir, 'handlers.mjs')).href)) as Record<string, unknown>;
  const handlers = Object.values(exported).flat() as HandledJob[];
  const address = { port: Number(at.split(':').at(-1)) };
  const worker = await startWorker({ address, name: 'w1', handlers, cpuCap: 1 });
  return { [Symbol.asyncDispose]: () => worker.close({ withinMs: 0 }) };
}

export async function workerOf(
  at: string,
  dir: string,
  options: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Promise<Running> {
  const args = ['worker', join(dir, 'handlers.mjs'), '--leader', at, '--name', 'w1', ...options];
  const worker = new Running(args, undefined, nodeFlags);
  await worker.first;
  return worker;
}
