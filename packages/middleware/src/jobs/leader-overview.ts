/** The fill levels of a leader. Structural, as the types of its events. */
export interface LeaderOverview {
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

export interface LeaderOverviewSource {
  overview(): Promise<LeaderOverview>;
}
