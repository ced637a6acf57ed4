import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  errorPrefix,
  type ProcessResult,
  parseProcess,
  parseSample,
  processPrefix,
  samplePrefix,
} from './process-output.js';
import { type Job, repeatOf } from './process-plan.js';
import type { Command, Measurement, RunContext } from './suite.js';

export type Runtime = 'node' | 'bun' | 'deno';

export interface Launch {
  readonly suite: string;
  readonly scale: number;
  readonly adapters: Readonly<Record<string, string>>;
  /** The script of the process; that of this build unless given. The gate gives that of another build. */
  readonly child?: string | undefined;
  /** Ends the process when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

const ownChild = fileURLToPath(new URL('./child.js', import.meta.url));

/** A label is a system, or a system on another runtime: `troupe@bun`. */
export function splitLabel(label: string): { system: string; runtime: Runtime } {
  const [system = label, runtime] = label.split('@');
  return { system, runtime: runtime === 'bun' || runtime === 'deno' ? runtime : 'node' };
}

function runtimeCommand(runtime: Runtime, child: string, order: string): Command {
  switch (runtime) {
    case 'node':
      return { file: process.execPath, args: ['--expose-gc', child, order] };
    case 'bun':
      return { file: 'bun', args: ['--expose-gc', child, order] };
    case 'deno':
      return { file: 'deno', args: ['run', '-A', '--v8-flags=--expose-gc', child, order] };
    default:
      return runtime satisfies never;
  }
}

async function commandOf(job: Job, launch: Launch): Promise<Command> {
  const { system, runtime } = splitLabel(job.system);
  const context: RunContext = {
    system,
    scale: launch.scale,
    round: job.round,
    adapters: launch.adapters,
  };
  const repeat = repeatOf(job.case);
  const foreign = await job.case.command?.(context, repeat);
  if (foreign !== undefined) return foreign;
  const order = { suite: launch.suite, benchmark: job.case.benchmark, context, repeat };
  return runtimeCommand(runtime, launch.child ?? ownChild, JSON.stringify(order));
}

class Transcript {
  readonly samples: Measurement[] = [];
  error: string | undefined;
  private process: Omit<ProcessResult, 'samples'> = {};
  private rest = '';

  push(chunk: string): void {
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line.startsWith(samplePrefix)) this.samples.push(parseSample(line.slice(samplePrefix.length)));
    else if (line.startsWith(processPrefix)) this.process = parseProcess(line.slice(processPrefix.length));
    else if (line.startsWith(errorPrefix)) this.error = String(JSON.parse(line.slice(errorPrefix.length)));
  }

  result(): ProcessResult {
    return { ...this.process, samples: this.samples };
  }
}

/** Runs one job in a fresh process. Rejects with the reason if the process fails, hangs or says nonsense. */
export async function runProcess(job: Job, launch: Launch): Promise<ProcessResult> {
  const command = await commandOf(job, launch);
  const timeoutMs = job.case.timeoutMs ?? 120_000;
  return new Promise((resolve, reject) => {
    const transcript = new Transcript();
    const started = spawn(command.file, command.args, {
      env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', ...command.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(launch.signal !== undefined && { signal: launch.signal, killSignal: 'SIGKILL' }),
    });
    let complaint = '';
    let expired = false;
    const timer = setTimeout(() => {
      expired = true;
      started.kill('SIGKILL');
    }, timeoutMs);
    started.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      try {
        transcript.push(chunk);
      } catch (error) {
        transcript.error = error instanceof Error ? error.message : String(error);
        started.kill('SIGKILL');
      }
    });
    started.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaint = (complaint + chunk).slice(-2_000);
    });
    started.on('error', (error) => {
      clearTimeout(timer);
      reject(new Error(`${command.file} did not start: ${error.message}`, { cause: error }));
    });
    started.on('close', (code, signal) => {
      clearTimeout(timer);
      if (expired) reject(new Error(`no result within ${timeoutMs / 1_000} s`));
      else if (transcript.error !== undefined) reject(new Error(transcript.error));
      else if (code !== 0) reject(new Error(`exit ${signal ?? code}: ${complaint.trim().slice(-600)}`));
      else resolve(transcript.result());
    });
  });
}
