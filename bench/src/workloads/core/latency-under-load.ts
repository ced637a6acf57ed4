import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../../adapters/actor-system.js';
import { EchoProbe } from '../../probes/echo-probe.js';
import { type Lateness, TimerProbe } from '../../probes/timer-probe.js';
import type { Measurement } from '../../runner/suite.js';
import { LoadGenerator, type LoadShape } from './load-generator.js';

/** The work of the event loop during a probe: generated load, or none without a system. */
function loadOf(
  system: System | undefined,
  shape: LoadShape,
  ms: number,
): () => Promise<Measurement | undefined> {
  if (system === undefined) {
    return async () => {
      await sleep(ms);
      return undefined;
    };
  }
  const generator = new LoadGenerator(system, shape);
  return () => generator.run(ms);
}

/** The measurement of the load, or of the probe alone, with the latencies of the probe. */
export function probeMeasurement(work: Measurement | undefined, probed: Lateness, ms: number): Measurement {
  return {
    ...(work ?? { attempted: probed.count, completed: probed.count, seconds: ms / 1_000 }),
    p50: probed.p50,
    p99: probed.p99,
    max: probed.max,
    extra: { probes: probed.count },
  };
}

export function throughputUnderLoad(
  system: System,
  shape: LoadShape,
  ms: number,
): () => Promise<Measurement> {
  const generator = new LoadGenerator(system, shape);
  return () => generator.run(ms);
}

export function timerUnderLoad(
  system: System | undefined,
  shape: LoadShape,
  ms: number,
): () => Promise<Measurement> {
  const work = loadOf(system, shape, ms);
  return async () => {
    const probe = new TimerProbe();
    const done = await work();
    // A timer that became due while the loop was blocked fires now and counts.
    await sleep(1);
    return probeMeasurement(done, probe.stop(), ms);
  };
}

export function echoUnderLoad(
  system: System | undefined,
  shape: LoadShape,
  ms: number,
): () => Promise<Measurement> {
  const work = loadOf(system, shape, ms);
  return async () => {
    const probe = await EchoProbe.open();
    const done = await work();
    return probeMeasurement(done, await probe.stop(), ms);
  };
}
