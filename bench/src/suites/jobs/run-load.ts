import type { Measurement } from '../../runner/suite.js';
import type { JobSystem, Shape } from './job-system.js';
import { isResultOf, type Payload } from './payload.js';

export interface Load extends Shape {
  readonly jobs: number;
  readonly bytes: number;
  /** A client submits so many at once and awaits all of them, then the next client does. One by default. */
  readonly burst?: number;
}

/**
 * Keeps `outstanding` jobs going and times each from submit to result. A job whose result is not that of its
 * payload is not completed.
 */
export async function drive(
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
  // One promise a job, so that the figure is of the system and not of this loop.
  const steadily = async (_: unknown, no: number): Promise<void> => {
    while (next < jobs) {
      const i = next;
      next += 1;
      const payload = payloadOf(no);
      const at = performance.now();
      ended(i, at, payload, await run(payload, no));
    }
  };
  const inBursts = async (): Promise<void> => {
    while (next < jobs) {
      const first = next;
      next = Math.min(jobs, first + burst);
      const caller = bursts;
      bursts += 1;
      const at = performance.now();
      const one = (_: unknown, i: number): Promise<void> => {
        const payload = payloadOf(caller);
        return run(payload, caller).then((result) => ended(first + i, at, payload, result));
      };
      await Promise.all(Array.from({ length: next - first }, one));
    }
  };
  const lanes = Math.ceil(Math.min(load.outstanding, jobs) / burst);
  await Promise.all(Array.from({ length: lanes }, burst === 1 ? steadily : inBursts));
  const seconds = (performance.now() - startedAt) / 1_000;
  latencies.sort();
  const at = (share: number): number => latencies[Math.floor((jobs - 1) * share)] ?? 0;
  return { attempted: jobs, completed, seconds, p50: at(0.5), p99: at(0.99), max: at(1) };
}
