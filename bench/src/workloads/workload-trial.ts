import type { System } from '../adapters/actor-system.js';
import { adapterOf } from '../adapters/adapter-registry.js';
import type { Measurement, RunContext, Trial } from '../runner/suite.js';
import type { PreparedRun, Workload } from './workload.js';

export async function timed(run: PreparedRun): Promise<Measurement> {
  const started = performance.now();
  const outcome = await run();
  return { ...outcome, seconds: (performance.now() - started) / 1_000 };
}

/** Opens the system of this process, runs `warmUp` on it, then times the workload. */
export async function workloadTrial(
  workload: Workload,
  context: RunContext,
  warmUp?: (system: System) => Promise<void>,
): Promise<Trial> {
  if (context.system === 'plain') {
    const plain = workload.plain?.(context.scale);
    if (plain === undefined) throw new RangeError(`${workload.name} has no plain version`);
    return { run: () => timed(plain) };
  }
  const adapter = await adapterOf(context);
  const system = await adapter.open();
  await warmUp?.(system);
  const run = await workload.prepare(system, context.scale);
  return { run: () => timed(run), close: () => system.close() };
}
