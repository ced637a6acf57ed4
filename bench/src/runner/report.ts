/** One system on one benchmark: its median sample. */
export interface Row {
  readonly benchmark: string;
  readonly system: string;
  readonly attempted: number;
  readonly completed: number;
  readonly seconds: number;
  readonly opsPerSecond: number;
  readonly unit: string;
  readonly headline: string;
  /** 10th and 90th percentile of the headline number over all samples. */
  readonly low: number;
  readonly high: number;
  readonly samples: number;
  readonly rounds: number;
  readonly group?: string | undefined;
  readonly oracle?: boolean | undefined;
  readonly p50?: number;
  readonly p99?: number;
  readonly max?: number;
  readonly heapBytes?: number;
  readonly rssBytes?: number;
  readonly gcShare?: number;
  readonly loopDelayP99?: number;
  readonly [extra: string]: number | string | boolean | undefined;
}

/**
 * A row that is not in the table, with the reason: skipped (cannot run here) or refused (incomplete or
 * wrong).
 */
export interface MissingRow {
  readonly benchmark: string;
  readonly system: string;
  readonly reason: string;
}

export interface Report {
  readonly suite: string;
  readonly machine: string;
  readonly date: string;
  readonly scale: number;
  readonly rows: readonly Row[];
  /** `{ pingpong: { 'troupe/erlang': 6.1 } }`; above 1 the first system is better. */
  readonly ratios: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly intervals: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>>;
  readonly notes: Readonly<Record<string, string>>;
  readonly skipped: readonly MissingRow[];
  readonly refused: readonly MissingRow[];
}
