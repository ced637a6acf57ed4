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
import { type PlannedProcess, repeatOf } from './process-plan.js';
import type { Command, Measurement, RunContext } from './suite.js';

export type Runtime = 'node' | 'bun' | 'deno';

export interface Launch {
  readonly suite: string;
  readonly scale: number;
  readonly adapters: Readonly<Record<string, string>>;
  /**
   * The script of the process: `child.js` of this build unless given. The gate passes that of another build.
   */
  readonly child?: string | undefined;
  /** An abort kills the process. */
  readonly signal?: AbortSignal | undefined;
}

const ownChild = fileURLToPath(new URL('./child.js', import.meta.url));

/** A label is the name of a system, with a runtime other than Node behind it: `troupe@bun`. */
export function splitLabel(label: string): { system: string; runtime: Runtime } {
  const [system = label, runtime] = label.split('@');
  return { system, runtime: runtime === 'bun' || runtime === 'deno' ? runtime : 'node' };
}

function runtimeCommand(runtime: Runtime, child: string, request: string): Command {
  switch (runtime) {
    case 'node':
      return { file: process.execPath, args: ['--expose-gc', child, request] };
    case 'bun':
      return { file: 'bun', args: ['--expose-gc', child, request] };
    case 'deno':
      return { file: 'deno', args: ['run', '-A', '--v8-flags=--expose-gc', child, request] };
    default:
      return runtime satisfies never;
  }
}

async function commandOf(planned: PlannedProcess, launch: Launch): Promise<Command> {
  const { system, runtime } = splitLabel(planned.system);
  const context: RunContext = {
    system,
    scale: launch.scale,
    round: planned.round,
    adapters: launch.adapters,
  };
  const repeat = repeatOf(planned.case);
  const otherLanguage = await planned.case.command?.(context, repeat);
  if (otherLanguage !== undefined) return otherLanguage;
  const request = { suite: launch.suite, benchmark: planned.case.benchmark, context, repeat };
  return runtimeCommand(runtime, launch.child ?? ownChild, JSON.stringify(request));
}

/** Collects the lines that a benchmark process prints. */
class OutputReader {
  readonly samples: Measurement[] = [];
  error: string | undefined;
  private processFields: Omit<ProcessResult, 'samples'> = {};
  private partialLine = '';

  push(chunk: string): void {
    const lines = (this.partialLine + chunk).split('\n');
    this.partialLine = lines.pop() ?? '';
    for (const line of lines) this.readLine(line);
  }

  private readLine(line: string): void {
    if (line.startsWith(samplePrefix)) this.samples.push(parseSample(line.slice(samplePrefix.length)));
    else if (line.startsWith(processPrefix))
      this.processFields = parseProcess(line.slice(processPrefix.length));
    else if (line.startsWith(errorPrefix)) this.error = String(JSON.parse(line.slice(errorPrefix.length)));
  }

  result(): ProcessResult {
    return { ...this.processFields, samples: this.samples };
  }
}

/** Runs a fresh process. Rejects with the reason if it fails, hangs or prints an invalid sample. */
export async function runProcess(planned: PlannedProcess, launch: Launch): Promise<ProcessResult> {
  const command = await commandOf(planned, launch);
  const timeoutMs = planned.case.timeoutMs ?? 120_000;
  return new Promise((resolve, reject) => {
    const output = new OutputReader();
    const child = spawn(command.file, command.args, {
      env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '', ...command.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: launch.signal,
      killSignal: 'SIGKILL',
    });
    let errorOutput = '';
    let expired = false;
    const timer = setTimeout(() => {
      expired = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      try {
        output.push(chunk);
      } catch (error) {
        output.error = error instanceof Error ? error.message : String(error);
        child.kill('SIGKILL');
      }
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      errorOutput = (errorOutput + chunk).slice(-2_000);
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new Error(`${command.file} did not start: ${error.message}`, { cause: error }));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (expired) reject(new Error(`no result within ${timeoutMs / 1_000} s`));
      else if (output.error !== undefined) reject(new Error(output.error));
      else if (code !== 0) reject(new Error(`exit ${signal ?? code}: ${errorOutput.trim().slice(-600)}`));
      else resolve(output.result());
    });
  });
}
