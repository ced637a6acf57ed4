/** The user asked for something that does not exist: one line, exit 2, no stack. */
export class UsageError extends Error {
  readonly code = 'ERR_BENCH_USAGE';
}
