/**
 * What a leader of @troupe/jobs tells its observer, as far as it is counted here. Structural: this package does not know
 * that one, and an event of a kind or with fields it has never heard of is let pass.
 */
export interface JobEvent {
  readonly kind: string;
  readonly job?: number;
  readonly exec?: string;
  readonly attempt?: number;
  /** From due to assigned. */
  readonly waitedMs?: number;
  readonly sinceSubmitMs?: number;
  readonly delayMs?: number;
  /** From handing a batch to the log until it is durable. */
  readonly tookMs?: number;
  readonly records?: number;
  readonly cause?: string;
  readonly reason?: string;
  readonly code?: string;
  readonly liveness?: string;
}

/** What its log tells. */
export interface LogEvent {
  readonly kind: string;
  readonly ms?: number;
  readonly bytes?: number;
}

/** A leader, as seen by whoever wants to know how full it is. */
export interface JobsOverview {
  readonly counts: Readonly<Record<string, number>>;
  readonly delayed: number;
  readonly liveBytes: number;
  readonly keys: number;
  readonly workers: readonly {
    readonly liveness: string;
    readonly running: number;
    readonly credit: number;
    readonly slots: number;
  }[];
}

export interface JobsSource {
  overview(): Promise<JobsOverview>;
}
