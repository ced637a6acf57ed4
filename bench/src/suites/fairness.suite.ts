import type { System } from '../adapters/actor-system.js';
import { adapterOf, missingSystem, scriptSystems } from '../adapters/adapter-registry.js';
import { erlangCommand } from '../adapters/erlang-command.js';
import type { Case, Headline, Measurement, RunContext, Suite, Trial } from '../runner/suite.js';
import { echoUnderLoad, timerUnderLoad } from '../workloads/core/latency-under-load.js';
import { type LoadShape, oneActorLoad } from '../workloads/core/load-generator.js';
import { memory } from '../workloads/core/memory.js';
import { leakSlope } from '../workloads/fairness/leak-slope.js';
import { openLoopAsk } from '../workloads/fairness/open-loop-ask.js';
import { quietActorsUnderLoad } from '../workloads/fairness/quiet-actors.js';
import { restartStorm } from '../workloads/fairness/restart-storm.js';

const probeMs = (scale: number): number => Math.min(4_000, Math.max(300, 1_500 * scale));
const probeRepeat = { warmups: 1, iterations: 2, budgetMs: 12_000 };

async function systemTrial(
  context: RunContext,
  make: (system: System) => () => Promise<Measurement>,
): Promise<Trial> {
  const adapter = await adapterOf(context);
  const system = await adapter.open();
  return { run: make(system), close: () => system.close() };
}

type Probe = (system: System | undefined, ms: number) => () => Promise<Measurement>;

function probeCase(benchmark: string, headline: Headline, note: string, probe: Probe): Case {
  return {
    benchmark,
    unit: 'messages',
    headline,
    note,
    systems: ['idle', ...scriptSystems],
    repeat: probeRepeat,
    prepare(context) {
      const ms = probeMs(context.scale);
      if (context.system === 'idle') return { run: probe(undefined, ms) };
      return systemTrial(context, (system) => probe(system, ms));
    },
  };
}

const underOneActorLoad =
  (probe: (system: System | undefined, shape: LoadShape, ms: number) => () => Promise<Measurement>): Probe =>
  (system, ms) =>
    probe(system, oneActorLoad, ms);

export const suite: Suite = {
  name: 'fairness',
  title:
    'latency under load: timers, sockets and quiet actors beside a busy actor; memory, leaks, restarts, open-loop asks',
  systems: ['troupe', 'idle', 'erlang', 'xstate', 'nact', 'comedy', 'effect'],
  cases: [
    probeCase(
      'hogTimer',
      'p99',
      'lateness of a 10 ms timer beside one busy actor, ms',
      underOneActorLoad(timerUnderLoad),
    ),
    probeCase(
      'hogEcho',
      'p99',
      'TCP round trip on the event loop of one busy actor, ms',
      underOneActorLoad(echoUnderLoad),
    ),
    probeCase(
      'hogQuiet',
      'p99',
      '999 quiet actors with a message every 10 ms each, lateness from the due time, ms',
      quietActorsUnderLoad,
    ),
    {
      benchmark: 'idleMemory',
      unit: 'actors',
      headline: 'heapBytes',
      systems: [...scriptSystems, 'erlang'],
      repeat: { warmups: 0, iterations: 1 },
      prepare: (context) => systemTrial(context, (system) => memory(system, context.scale, 'whole')),
      command: (context, repeat) => erlangCommand('core_bench', 'memory', context, repeat),
    },
    {
      benchmark: 'leakSlope',
      unit: 'actors',
      headline: 'heapBytes',
      note: 'bytes of live heap leaked per spawned and stopped actor; 0.1 is the lower limit',
      systems: scriptSystems,
      repeat: { warmups: 0, iterations: 1 },
      prepare: (context) => systemTrial(context, (system) => leakSlope(system, context.scale)),
    },
    {
      benchmark: 'restartStorm',
      unit: 'restarts',
      note: 'every message makes its actor throw; in Erlang the parent respawns explicitly',
      systems: ['troupe', 'erlang'],
      prepare: restartStorm,
      command: (context, repeat) => erlangCommand('fairness_bench', 'restartStorm', context, repeat),
    },
    {
      benchmark: 'askOpenLoop',
      unit: 'asks',
      headline: 'p99',
      note: '20,000 asks per second at fixed times; latency from the due time, ms',
      systems: scriptSystems,
      repeat: probeRepeat,
      prepare: (context) => systemTrial(context, (system) => openLoopAsk(system, probeMs(context.scale))),
    },
  ],
  missing: missingSystem,
};
