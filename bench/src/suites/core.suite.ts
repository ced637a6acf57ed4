import type * as Core from '@troupe/core';
import type { System } from '../adapters/actor-system.js';
import { adapterOf, missingSystem, scriptSystems } from '../adapters/adapter-registry.js';
import { channelCommand, channelSystems } from '../adapters/channel-command.js';
import { erlangCommand } from '../adapters/erlang-command.js';
import type { Case, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { ask, askConcurrent, asyncHandler } from '../workloads/core/ask.js';
import { warmUpCallSites } from '../workloads/core/call-site-warmup.js';
import { countingOf } from '../workloads/core/counting.js';
import { createOf } from '../workloads/core/create.js';
import { floorWorkloads, warmUpFloorCallSites } from '../workloads/core/floor-workloads.js';
import { forkjoinOf } from '../workloads/core/forkjoin.js';
import { echoUnderLoad, throughputUnderLoad, timerUnderLoad } from '../workloads/core/latency-under-load.js';
import { type LoadShape, ringLoad } from '../workloads/core/load-generator.js';
import { type MemoryPart, memory } from '../workloads/core/memory.js';
import { pingpongOf } from '../workloads/core/pingpong.js';
import { ringOf } from '../workloads/core/ring.js';
import { stopTree } from '../workloads/core/stop-tree.js';
import { nodeTimers, troupeTimers } from '../workloads/core/timers.js';
import type { Workload } from '../workloads/workload.js';
import { timed, workloadTrial } from '../workloads/workload-trial.js';

const counting = countingOf('counting', 1_000_000);
const pingpong = pingpongOf('pingpong', 1_000_000);
const ring = ringOf('ring', 1_000_000);
const forkjoin = forkjoinOf('forkjoin', 100_000);
const create = createOf('create', 100_000);

const allSystems: readonly string[] = [...scriptSystems, 'erlang'];
/** Other actor types keep call sites polymorphic; in the megamorphic rows there are many. */
const fewTypes = 2;
const manyTypes = 48;

function workloadCase(
  workload: Workload,
  systems: readonly string[] = [...allSystems, ...channelSystems],
): Case {
  return {
    benchmark: workload.name,
    unit: workload.unit,
    systems,
    note: workload.note,
    prepare(context) {
      const floorRun =
        context.system === 'floor' ? floorWorkloads[workload.name]?.(context.scale) : undefined;
      if (floorRun !== undefined) {
        warmUpFloorCallSites();
        return { run: () => timed(floorRun) };
      }
      return workloadTrial(workload, context, (system) => warmUpCallSites(system, fewTypes));
    },
    command: async (context, repeat) =>
      (await channelCommand(workload.name, context, repeat)) ??
      erlangCommand('core_bench', workload.name, context, repeat),
  };
}

/**
 * The end of each of the first runs is code that was not run before: the compiler starts anew twice, and a
 * third run is half as fast as those after it.
 */
function warm(benchmark: Case): Case {
  return { ...benchmark, repeat: { ...benchmark.repeat, warmups: 4 } };
}

function megamorphic(workload: Workload): Case {
  return {
    benchmark: `megamorphic${workload.name.charAt(0).toUpperCase()}${workload.name.slice(1)}`,
    unit: workload.unit,
    systems: scriptSystems,
    note: `${manyTypes} other actor types have used the runtime in this process before`,
    prepare: (context) =>
      workloadTrial(workload, context, (system) => warmUpCallSites(system, manyTypes, 200_000)),
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
    // A second run in the same process would reuse grown tables and show too low a value.
    repeat: { warmups: 0, iterations: 1 },
    prepare: (context) => systemTrial(context, (system) => memory(system, context.scale, part)),
    command: (context, repeat) => erlangCommand('core_bench', benchmark, context, repeat),
  };
}

const probeRepeat = { warmups: 1, iterations: 2, budgetMs: 12_000 };
const probeMs = (scale: number): number => Math.min(4_000, Math.max(300, 1_500 * scale));

function probeCase(
  benchmark: string,
  headline: 'p50' | 'p99',
  note: string,
  probe: (system: System | undefined, shape: LoadShape, ms: number) => () => Promise<Measurement>,
): Case {
  return {
    benchmark,
    unit: 'messages',
    headline,
    note,
    systems: ['idle', ...scriptSystems],
    repeat: probeRepeat,
    prepare(context) {
      const ms = probeMs(context.scale);
      if (context.system === 'idle') return { run: probe(undefined, ringLoad, ms) };
      return systemTrial(context, (system) => probe(system, ringLoad, ms));
    },
  };
}

/** A benchmark of features that other systems do not have, written for Troupe alone. */
async function ownTrial(
  context: RunContext,
  make: (core: typeof Core, system: Core.ActorSystem, scale: number) => () => Promise<Measurement>,
): Promise<Trial> {
  const core: typeof Core = await import('@troupe/core');
  const system = core.createSystem({ name: 'bench' });
  return { run: make(core, system, context.scale), close: async () => void (await system.shutdown()) };
}

const timers: Case = {
  benchmark: 'timers',
  unit: 'timers',
  note: 'armed and cancelled, a thousand at a time; the floor is setTimeout and clearTimeout',
  systems: ['troupe', 'floor', 'erlang', 'go'],
  prepare: (context) =>
    context.system === 'floor' ? { run: nodeTimers(context.scale) } : ownTrial(context, troupeTimers),
  command: async (context, repeat) =>
    (await channelCommand('timers', context, repeat)) ??
    erlangCommand('core_bench', 'timers', context, repeat),
};

const stoppedTree: Case = {
  benchmark: 'stopTree',
  unit: 'actors',
  note: 'a root with 100 branches of 1,000 leaves: the time from the stop of the root to its end',
  systems: ['troupe'],
  prepare: (context) => ownTrial(context, stopTree),
};

const saturated: Case = {
  benchmark: 'saturated',
  unit: 'messages',
  note: 'a ring of 100 actors with 50 tokens without end; `unsliced` is Troupe that yields to the event loop only when its run queue is empty',
  systems: ['unsliced', ...scriptSystems],
  repeat: probeRepeat,
  prepare: (context) =>
    systemTrial(context, (system) => throughputUnderLoad(system, ringLoad, probeMs(context.scale))),
};

export const suite: Suite = {
  name: 'core',
  title: 'the message path: throughput, wake-up, spawn, ask, memory per actor, latency under load',
  systems: [
    'troupe',
    'floor',
    'erlang',
    ...channelSystems,
    'xstate',
    'nact',
    'comedy',
    'effect',
    'unsliced',
    'idle',
  ],
  cases: [
    warm(workloadCase(counting)),
    warm(workloadCase(pingpong)),
    warm(workloadCase(ring)),
    workloadCase(forkjoin),
    workloadCase(create),
    stoppedTree,
    timers,
    workloadCase(ask),
    // A thousand concurrent replies survive collections until the young generation has grown, which takes
    // some runs.
    { ...workloadCase(askConcurrent), repeat: { warmups: 8 } },
    memoryCase('memory', 'whole', 'heap per anonymous idle actor, default options, tiny state', allSystems),
    memoryCase(
      'memoryWithoutState',
      'without-state',
      'the same without the state objects of the user',
      scriptSystems,
    ),
    memoryCase(
      'memoryAfterMessage',
      'after-message',
      'the same after each actor has handled one message',
      allSystems,
    ),
    saturated,
    probeCase(
      'saturatedTimer',
      'p99',
      'lateness of a 10 ms timer in ms; `idle` is the empty event loop',
      timerUnderLoad,
    ),
    probeCase(
      'saturatedEcho',
      'p50',
      'TCP round trip on the same event loop in ms; `idle` is the empty loop',
      echoUnderLoad,
    ),
    workloadCase(asyncHandler, ['troupe', 'floor', 'nact', '*']),
    warm(megamorphic(counting)),
    warm(megamorphic(pingpong)),
    warm(megamorphic(ring)),
  ],
  missing: missingSystem,
};
