// Entry point of a benchmark process: runs one benchmark on one system and prints its samples as lines. The
// gate starts the same file of older checkouts, so path, request fields and line prefixes stay as they are.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { errorPrefix, processPrefix, samplePrefix } from './process-output.js';
import type { Repeat, RunContext, Trial } from './suite.js';
import { loadSuite } from './suite-registry.js';

/** The JSON in the first argument. */
interface RunRequest {
  readonly suite: string;
  readonly benchmark: string;
  readonly context: RunContext;
  readonly repeat: Repeat;
}

/** Garbage collection and event loop delay of this process. */
interface ProcessObserver {
  gcMs: number;
  /** Stops and returns the 99th percentile of the event loop delay in milliseconds. */
  finish(): number;
}

function observeProcess(): ProcessObserver {
  const observer: ProcessObserver = { gcMs: 0, finish: () => Number.NaN };
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) observer.gcMs += entry.duration;
  });
  // Only Node has 'gc' entries and a loop histogram; rows of other runtimes lack these numbers.
  if (process.versions['bun'] === undefined && process.versions['deno'] === undefined) {
    collections.observe({ entryTypes: ['gc'] });
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    observer.finish = () => {
      delay.disable();
      return delay.percentile(99) / 1e6;
    };
  }
  return observer;
}

function print(prefix: string, value: unknown): void {
  process.stdout.write(`${prefix}${JSON.stringify(value)}\n`);
}

/**
 * One timer turn, so that timers, sockets and finalisers of the previous run end before the next run starts.
 */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

async function repeatTrial(trial: Trial, repeat: Repeat): Promise<void> {
  const started = performance.now();
  const spent = (): number => performance.now() - started;
  for (let count = 0; count < repeat.warmups; count += 1) {
    await trial.run();
    await yieldToEventLoop();
    if (spent() > repeat.budgetMs / 2) break;
  }
  for (let count = 0; count < repeat.iterations; count += 1) {
    print(samplePrefix, await trial.run());
    await yieldToEventLoop();
    if (spent() > repeat.budgetMs) break;
  }
}

async function runBenchmark(request: RunRequest): Promise<void> {
  const suite = await loadSuite(request.suite);
  const benchmark = suite.cases.find((candidate) => candidate.benchmark === request.benchmark);
  if (benchmark === undefined)
    throw new RangeError(`suite ${request.suite} has no benchmark ${request.benchmark}`);
  const observer = observeProcess();
  const trial = await benchmark.prepare(request.context);
  const started = performance.now();
  await repeatTrial(trial, request.repeat);
  const wallMs = performance.now() - started;
  const loopDelayP99 = observer.finish();
  await trial.close?.();
  await yieldToEventLoop();
  print(processPrefix, {
    rssBytes: process.memoryUsage.rss(),
    ...(Number.isFinite(loopDelayP99) && { gcShare: observer.gcMs / wallMs, loopDelayP99 }),
  });
}

function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stdout.write(`${errorPrefix}${JSON.stringify(text.slice(0, 2_000))}\n`, () => process.exit(1));
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
// A workload that loses a message never resolves and leaves the event loop empty: a failure, not a success.
process.on('beforeExit', () =>
  fail(new Error('the event loop became empty before the benchmark was complete')),
);
// The argument is written by run-process.ts with JSON.stringify.
const request = JSON.parse(process.argv[2] ?? '{}') as RunRequest;
runBenchmark(request).then(() => process.exit(0), fail);
