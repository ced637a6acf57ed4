import type { Measurement } from '../../runner/suite.js';
import type { JobSystem, Topology } from './job-system.js';
import { isResultOf, type Payload } from './payload.js';

export interface Load extends Topology {
  readonly jobs: number;
  readonly bytes: number;
  /** Jobs that a client submits at once and awaits together, before the next client does. One by default. */
  readonly burst?: number;
}

/**
 * Keeps `outstanding` jobs running and times each from submit to result. A job with a wrong result does not
 * count as completed.
 */
export async function runLoad(
  run: JobSystem['run'],
  payloadOf: (caller: number) => Payload,
  load: Load,
): Promise<Measurement> {
  const { jobs, burst = 1 } = load;
  const latencies = new Float64Array(jobs);
  const startedAt = performance.now();
  let next = 0;
  let completed = 0;
  let bursts = 0;
  const ended = (i: number, at: number, payload: Payload, result: unknown): void => {
    latencies[i] = performance.now() - at;
    if (isResultOf(payload, result)) completed += 1;
  };
  // One promise per job, so that the cost of this loop is small.
  const oneByOne = async (_: unknown, caller: number): Promise<void> => {
    while (next < jobs) {
      const i = next;
      next += 1;
      const payload = payloadOf(caller);
      const at = performance.now();
      ended(i, at, payload, await run(payload, caller));
    }
  };
  const inBursts = async (): Promise<void> => {
    while (next < jobs) {
      const first = next;
      next = Math.min(jobs, first + burst);
      const caller = bursts;
      bursts += 1;
      const at = performance.now();
      const runOne = (_: unknown, i: number): Promise<void> => {
        const payload = payloadOf(caller);
        return run(payload, caller).then((result) => ended(first + i, at, payload, result));
      };
      await Promise.all(Array.from({ length: next - first }, runOne));
    }
  };
  const callers = Math.ceil(Math.min(load.outstanding, jobs) / burst);
  await Promise.all(Array.from({ length: callers }, burst === 1 ? oneByOne : inBursts));
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort();
  const at = (share: number): number => latencies[Math.floor((jobs - 1) * share)] ?? 0;
  return { attempted: jobs, completed, seconds, p50: at(0.5), p99: at(0.99), max: at(1) };
}
