/** The monotonic clock of the machine, the same in all processes, in milliseconds. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
