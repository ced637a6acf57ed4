import type { LoadMeter } from './load-meter.js';

const SAMPLE_MS = 200;

/** Processor time of this process over wall time, sampled at most five times a second. */
export function nodeLoadMeter(): LoadMeter {
  let at = performance.now();
  let used = process.cpuUsage();
  let share = 0;
  const utilization = performance.eventLoopUtilization;
  let loop = utilization();
  let lagMs = 0;
  const sample = (): void => {
    const now = performance.now();
    const elapsed = now - at;
    if (elapsed < SAMPLE_MS) return;
    const spent = process.cpuUsage(used);
    const turned = utilization(loop);
    share = Math.min(1, (spent.user + spent.system) / 1_000 / elapsed);
    // A late sample was kept waiting: the time beyond its period is the lag.
    lagMs = turned.utilization > 0.99 ? Math.max(0, elapsed - 5 * SAMPLE_MS) : 0;
    at = now;
    used = process.cpuUsage();
    loop = utilization();
  };
  return {
    cpu: () => {
      sample();
      return share;
    },
    lagMs: () => {
      sample();
      return lagMs;
    },
  };
}
