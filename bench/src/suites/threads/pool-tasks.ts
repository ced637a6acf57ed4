// Tasks of the thread pools, the same module for every system.

export function noop(): void {}

/** A sum that no compiler leaves out. */
export function compute(rounds: number): number {
  let value = 1;
  for (let round = 0; round < rounds; round += 1)
    value = Math.imul(value ^ (value >>> 15), value | 1) + round;
  return value;
}
