import type { Measurement } from '../../runner/suite.js';

/** The time of each call, one after the other; `call` returns whether its answer is right. */
export async function timeCalls(
  count: number,
  call: (number: number) => Promise<boolean>,
): Promise<Measurement> {
  const times: number[] = [];
  let completed = 0;
  for (let i = 0; i < count; i += 1) {
    const started = performance.now();
    if (await call(i)) completed += 1;
    times.push(performance.now() - started);
  }
  const seconds = times.reduce((sum, ms) => sum + ms, 0) / 1_000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor((count - 1) * share)] ?? 0;
  return { attempted: count, completed, seconds, p50: at(0.5), p99: at(0.99), max: at(1) };
}
