import { type ChildProcess, spawn } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { RunnerOutputError } from '../../jobs-error.js';
import type { CommandChunk } from './command-job.js';
import { type CommandPlan, mustBeBelow } from './command-rules.js';

/** Output that waits for its reader; above it the pipes of the program fill. */
const BUFFERED_CHARS_MAX = 64 * 1024;
/** A process that left the group may hold a pipe open. */
const CLOSE_MS = 1_000;
/** A chunk of a stream is at most 256 KiB as JSON, where a character may be six bytes. */
const CHUNK_CHARS_MAX = 32 * 1024;

/** One run of a program in a process group of its own. */
export class CommandProcess {
  private readonly child: ChildProcess;
  private readonly plan: CommandPlan;
  private readonly guard: ChildProcess | undefined;
  private readonly queue: CommandChunk[] = [];
  private queuedChars = 0;
  private bytes = 0;
  private isClosed = false;
  private failure: Error | undefined = undefined;
  private killTimer: NodeJS.Timeout | undefined = undefined;
  private wake: () => void = () => undefined;

  private constructor(plan: CommandPlan, cwd: string) {
    this.plan = plan;
    const { path, args, env } = plan;
    this.child = spawn(path, args, {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
    });
    this.guard = guardGroup(this.child.pid);
    this.read('stdout', this.child.stdout as Readable); // a pipe, as stdio says
    this.read('stderr', this.child.stderr as Readable);
    // A program that does not read its input closes the pipe.
    this.child.stdin?.on('error', () => undefined);
    this.child.once('error', (error) => this.fail(error));
    this.child.once('exit', () => this.exited());
    this.child.once('close', (exitCode, signal) => this.closed(exitCode, signal));
  }

  static async start(plan: CommandPlan): Promise<CommandProcess> {
    const cwd = await realpath(plan.cwd);
    mustBeBelow(await realpath(plan.root), cwd);
    return new CommandProcess(plan, cwd);
  }

  /** Writes to its stdin; false: it reads no more. Resolves when there is room for more. */
  async write(text: string): Promise<boolean> {
    const { stdin } = this.child;
    if (stdin === null || stdin.destroyed || this.isClosed) return false;
    if (!stdin.write(text))
      await new Promise<void>((resolve) => {
        stdin.once('drain', resolve).once('close', resolve);
      });
    return !stdin.destroyed;
  }

  endInput(): void {
    this.child.stdin?.end();
  }

  /** Its output, and its exit last. */
  async *output(): AsyncGenerator<CommandChunk, void, void> {
    for (;;) {
      const chunk = this.queue.shift();
      if (chunk !== undefined) {
        if (chunk.from !== 'exit') this.queuedChars -= chunk.text.length;
        if (this.queuedChars < BUFFERED_CHARS_MAX) this.resume();
        yield chunk;
      } else if (this.failure !== undefined) throw this.failure;
      else if (this.isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
    }
  }

  /** SIGTERM to the group; SIGKILL after the grace. */
  end(): void {
    if (this.isClosed || this.killTimer !== undefined) return;
    this.signalGroup('SIGTERM');
    this.killTimer = setTimeout(() => this.signalGroup('SIGKILL'), this.plan.graceMs);
    this.resume();
  }

  /** Resolves when nothing of it is left. */
  async ended(): Promise<void> {
    while (!this.isClosed)
      await new Promise<void>((resolve) => {
        this.child.once('close', () => resolve());
        if (this.isClosed) resolve();
      });
  }

  private read(from: 'stdout' | 'stderr', pipe: Readable): void {
    pipe.setEncoding('utf8');
    pipe.on('data', (text: string) => {
      this.bytes += Buffer.byteLength(text);
      if (this.bytes > this.plan.outputBytesMax)
        return this.fail(new RunnerOutputError(this.plan.outputBytesMax));
      for (let at = 0; at < text.length; at += CHUNK_CHARS_MAX)
        this.queue.push({ from, text: text.slice(at, at + CHUNK_CHARS_MAX) });
      this.queuedChars += text.length;
      if (this.queuedChars >= BUFFERED_CHARS_MAX && this.killTimer === undefined) this.pause();
      this.wake();
    });
  }

  private pause(): void {
    this.child.stdout?.pause();
    this.child.stderr?.pause();
  }

  private resume(): void {
    this.child.stdout?.resume();
    this.child.stderr?.resume();
  }

  /** The program itself has ended: its children must not outlive it. */
  private exited(): void {
    this.signalGroup('SIGKILL');
    setTimeout(() => {
      this.child.stdout?.destroy();
      this.child.stderr?.destroy();
    }, CLOSE_MS).unref();
  }

  private closed(exitCode: number | null, signal: string | null): void {
    clearTimeout(this.killTimer);
    this.guard?.kill('SIGKILL');
    this.isClosed = true;
    if (this.failure === undefined) this.queue.push({ from: 'exit', exitCode, signal });
    this.wake();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    if (this.child.pid === undefined) this.isClosed = true;
    else this.end();
    this.wake();
  }

  private signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // No process of the group is left.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/**
 * Kills the group when this process is gone, however it ended: the pipe to the guard closes then. The text of
 * the job is no part of it.
 */
function guardGroup(pid: number | undefined): ChildProcess | undefined {
  if (pid === undefined || process.platform === 'win32') return undefined;
  const script = 'read -r _; kill -s KILL -- "-$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'sh', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it the program runs all the same.
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  guard.unref();
  return guard;
}
