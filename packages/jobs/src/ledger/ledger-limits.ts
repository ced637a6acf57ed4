/** What retention and windows obey. They decide what `apply` forgets, so they are in the log too. */
export interface LedgerLimits {
  readonly resultsMax: number;
  readonly resultsBytesMax: number;
  readonly keyWindowMs: number;
}

/** What a log means that holds no `limits` record. It must stay so, or old logs would be read with other eyes. */
export const FIRST_LEDGER_LIMITS: LedgerLimits = {
  resultsMax: 10_000,
  resultsBytesMax: 256 * 1024 * 1024,
  keyWindowMs: 24 * 3_600_000,
};
