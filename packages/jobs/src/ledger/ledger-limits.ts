/** Bounds of retention and of the key window. They decide what `apply` drops, so they are in the log too. */
export interface LedgerLimits {
  /** Results that are kept; beyond it the oldest is dropped. */
  readonly resultsMax: number;
  /** The outputs of these results together. */
  readonly resultsBytesMax: number;
  /** How long an idempotency key names its job. */
  readonly keyWindowMs: number;
}

export const DEFAULT_LEDGER_LIMITS: LedgerLimits = {
  // At most 100 bytes each beside the content of the result, and as much again in the thread that makes a
  // snapshot.
  resultsMax: 250_000,
  resultsBytesMax: 256 * 1024 * 1024,
  keyWindowMs: 24 * 3_600_000,
};
