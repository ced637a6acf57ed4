import type { System } from '../../adapters/actor-system.js';
import { EchoProbe } from '../../probes/echo-probe.js';
import { type Lateness, TimerProbe } from '../../probes/timer-probe.js';
import type { Measurement } from '../../runner/suite.js';
import { Hog, type HogShape } from './load-generator.js';

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The loop's work while a probe watches: a hog, or nothing. */
function load(
  system: System | undefined,
  shape: HogShape,
  ms: number,
): () => Promise<Measurement | undefined> {
  if (system === undefined) {
    return async () => {
      await pause(ms);
      return undefined;
    };
  }
  const hog = new Hog(system, shape);
  return () => hog.run(ms);
}

export function health(work: Measurement | undefined, seen: Lateness, ms: number): Measurement {
  return {
    ...(work ?? { attempted: seen.count, completed: seen.count, seconds: ms / 1_000 }),
    p50: seen.p50,
    p99: seen.p99,
    max: seen.max,
    extra: { probes: seen.count },
  };
}

export function throughputUnderLoad(system: System, shape: HogShape, ms: number): () => Promise<Measurement> {
  const hog = new Hog(system, shape);
  return () => hog.run(ms);
}

export function timerUnderLoad(
  system: System | undefined,
  shape: HogShape,
  ms: number,
): () => Promise<Measurement> {
  const work = load(system, shape, ms);
  return async () => {
    const probe = new TimerProbe();
    const done = await work();
    // A timer that came due while the loop was blocked fires now, and counts.
    await pause(1);
    return health(done, probe.stop(), ms);
  };
}

export function echoUnderLoad(
  system: System | undefined,
  shape: HogShape,
  ms: number,
): () => Promise<Measurement> {
  const work = load(system, shape, ms);
  return async () => {
    const probe = await EchoProbe.open();
    const done = await work();
    return health(done, await probe.stop(), ms);
  };
}
