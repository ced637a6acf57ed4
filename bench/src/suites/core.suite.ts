import type { System } from '../adapters/actor-system.js';
import { adapterOf, missingSystem, scriptSystems } from '../adapters/adapter-registry.js';
import { erlangCommand } from '../adapters/erlang-command.js';
import type { Case, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { ask, askConcurrent, asyncHandler } from '../workloads/core/ask.js';
import { crowd } from '../workloads/core/call-site-warmup.js';
import { countingOf } from '../workloads/core/counting.js';
import { createOf } from '../workloads/core/create.js';
import { bare, mingle } from '../workloads/core/floor-workloads.js';
import { forkjoinOf } from '../workloads/core/forkjoin.js';
import { echoUnderLoad, throughputUnderLoad, timerUnderLoad } from '../workloads/core/latency-under-load.js';
import { type HogShape, ringShape } from '../workloads/core/load-generator.js';
import { type MemoryPart, memory } from '../workloads/core/memory.js';
import { pingpongOf } from '../workloads/core/pingpong.js';
import { ringOf } from '../workloads/core/ring.js';
import type { Workload } from '../workloads/workload.js';
import { timed, workloadTrial } from '../workloads/workload-trial.js';

const counting = countingOf('counting', 1_000_000);
const pingpong = pingpongOf('pingpong', 1_000_000);
const ring = ringOf('ring', 1_000_000);
const forkjoin = forkjoinOf('forkjoin', 100_000);
const create = createOf('create', 100_000);

const everybody: readonly string[] = [...scriptSystems, 'erlang'];
/** With a benchmark's own kinds these keep call sites polymorphic; the megamorphic rows have many. */
const fewKinds = 2;
const manyKinds = 48;

function workloadCase(workload: Workload, systems: readonly string[] = everybody): Case {
  return {
    benchmark: workload.name,
    unit: workload.unit,
    systems,
    ...(workload.note !== undefined && { note: workload.note }),
    prepare(context) {
      const byHand = context.system === 'floor' ? bare[workload.name]?.(context.scale) : undefined;
      if (byHand !== undefined) {
        mingle();
        return { run: () => timed(byHand) };
      }
      return workloadTrial(workload, context, (system) => crowd(system, fewKinds));
    },
    command: (context, repeat) => erlangCommand('core_bench', workload.name, context, repeat),
  };
}

function megamorphic(workload: Workload): Case {
  return {
    benchmark: `megamorphic${workload.name.charAt(0).toUpperCase()}${workload.name.slice(1)}`,
    unit: workload.unit,
    systems: scriptSystems,
    note: `${manyKinds} other actor kinds have used the runtime in this process before`,
    prepare: (context) => workloadTrial(workload, context, (system) => crowd(system, manyKinds, 200_000)),
  };
}

async function systemTrial(
  context: RunContext,
  make: (system: System) => () => Promise<Measurement>,
): Promise<Trial> {
  const adapter = await adapterOf(context);
  const system = await adapter.open();
  return { run: make(system), close: () => system.close() };
}

function memoryCase(benchmark: string, part: MemoryPart, note: string, systems: readonly string[]): Case {
  return {
    benchmark,
    unit: 'actors',
    headline: 'heapBytes',
    note,
    systems,
    // A second run in the same process would find the tables already grown and look better than it is.
    repeat: { warmups: 0, iterations: 1 },
    prepare: (context) => systemTrial(context, (system) => memory(system, context.scale, part)),
    command: (context, repeat) => erlangCommand('core_bench', benchmark, context, repeat),
  };
}

const healthRepeat = { warmups: 1, iterations: 2, budgetMs: 12_000 };
const healthMs = (scale: number): number => Math.min(4_000, Math.max(300, 1_500 * scale));

function healthCase(
  benchmark: string,
  headline: 'p50' | 'p99',
  note: string,
  probe: (system: System | undefined, shape: HogShape, ms: number) => () => Promise<Measurement>,
): Case {
  return {
    benchmark,
    unit: 'messages',
    headline,
    note,
    systems: ['idle', ...scriptSystems],
    repeat: healthRepeat,
    prepare(context) {
      const ms = healthMs(context.scale);
      if (context.system === 'idle') return { run: probe(undefined, ringShape, ms) };
      return systemTrial(context, (system) => probe(system, ringShape, ms));
    },
  };
}

const saturated: Case = {
  benchmark: 'saturated',
  unit: 'messages',
  note: 'a ring of 100 with 50 tokens for ever; `unsliced` is Troupe that yields to the loop only when it is empty',
  systems: ['unsliced', ...scriptSystems],
  repeat: healthRepeat,
  prepare: (context) =>
    systemTrial(context, (system) => throughputUnderLoad(system, ringShape, healthMs(context.scale))),
};

export const suite: Suite = {
  name: 'core',
  title: 'the message path: throughput, wake-up, spawn, ask, memory per actor, health under load',
  systems: ['troupe', 'floor', 'erlang', 'xstate', 'nact', 'comedy', 'effect', 'unsliced', 'idle'],
  cases: [
    workloadCase(counting),
    workloadCase(pingpong),
    workloadCase(ring),
    workloadCase(forkjoin),
    workloadCase(create),
    workloadCase(ask),
    // A thousand answers at once outlive collections until the young heap has grown to hold them: that takes some runs.
    { ...workloadCase(askConcurrent), repeat: { warmups: 8 } },
    memoryCase('memory', 'whole', 'heap per anonymous idle actor, default options, tiny state', everybody),
    memoryCase(
      'memoryWithoutState',
      'without-state',
      'the same minus the state objects of the user',
      scriptSystems,
    ),
    memoryCase(
      'memoryAfterMessage',
      'after-message',
      'the same after each actor has handled one message',
      everybody,
    ),
    saturated,
    healthCase(
      'saturatedTimer',
      'p99',
      'lateness of a 10 ms timer in ms; `idle` is the empty loop',
      timerUnderLoad,
    ),
    healthCase(
      'saturatedEcho',
      'p50',
      'TCP round trip on the same loop in ms; `idle` is the empty loop',
      echoUnderLoad,
    ),
    workloadCase(asyncHandler, ['troupe', 'floor', 'nact', '*']),
    megamorphic(counting),
    megamorphic(pingpong),
    megamorphic(ring),
  ],
  missing: missingSystem,
};
