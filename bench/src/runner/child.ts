// The entry of a fresh process: one benchmark on one system, repeated, its samples printed as lines.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { errorPrefix, processPrefix, samplePrefix } from './process-output.js';
import type { Repeat, RunContext, Trial } from './suite.js';
import { loadSuite } from './suite-registry.js';

interface Order {
  readonly suite: string;
  readonly benchmark: string;
  readonly context: RunContext;
  readonly repeat: Repeat;
}

interface Observed {
  gcMs: number;
  finish(): number;
}

function observe(): Observed {
  const observed: Observed = { gcMs: 0, finish: () => Number.NaN };
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) observed.gcMs += entry.duration;
  });
  // Only Node has 'gc' entries and a loop histogram; on the others the figures are absent from the row.
  if (process.versions['bun'] === undefined && process.versions['deno'] === undefined) {
    collections.observe({ entryTypes: ['gc'] });
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    observed.finish = () => {
      delay.disable();
      return delay.percentile(99) / 1e6;
    };
  }
  return observed;
}

function print(prefix: string, value: unknown): void {
  process.stdout.write(`${prefix}${JSON.stringify(value)}\n`);
}

/** Lets timers, sockets and finalisers of the previous run settle before the next one is timed. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

async function repeatTrial(trial: Trial, repeat: Repeat): Promise<void> {
  const started = performance.now();
  const spent = (): number => performance.now() - started;
  for (let count = 0; count < repeat.warmups; count += 1) {
    await trial.run();
    await breathe();
    if (spent() > repeat.budgetMs / 2) break;
  }
  for (let count = 0; count < repeat.iterations; count += 1) {
    print(samplePrefix, await trial.run());
    await breathe();
    if (spent() > repeat.budgetMs) break;
  }
}

async function obey(order: Order): Promise<void> {
  const suite = await loadSuite(order.suite);
  const benchmark = suite.cases.find((candidate) => candidate.benchmark === order.benchmark);
  if (benchmark === undefined)
    throw new RangeError(`suite ${order.suite} has no benchmark ${order.benchmark}`);
  const observed = observe();
  const trial = await benchmark.prepare(order.context);
  const started = performance.now();
  await repeatTrial(trial, order.repeat);
  const wallMs = performance.now() - started;
  const loopDelayP99 = observed.finish();
  await trial.close?.();
  await breathe();
  print(processPrefix, {
    rssBytes: process.memoryUsage.rss(),
    ...(Number.isFinite(loopDelayP99) && { gcShare: observed.gcMs / wallMs, loopDelayP99 }),
  });
}

function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stdout.write(`${errorPrefix}${JSON.stringify(text.slice(0, 2_000))}\n`, () => process.exit(1));
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
// A workload whose done signal never comes leaves the loop empty: that is a lost message, not a success.
process.on('beforeExit', () => fail(new Error('the event loop ran dry before the benchmark was done')));
// The caller is our own runner, which made this text with JSON.stringify.
const order = JSON.parse(process.argv[2] ?? '{}') as Order;
obey(order).then(() => process.exit(0), fail);
