/** A command that names something unknown: one line on standard error, exit code 2, no stack trace. */
export class UsageError extends Error {
  readonly code = 'ERR_BENCH_USAGE';
}
