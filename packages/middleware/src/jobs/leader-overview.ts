/** The fill levels of a leader. Structural, as the types of its events. */
export interface LeaderOverview {
  readonly counts: Readonly<Record<string, number>>;
  readonly delayed: number;
  readonly liveBytes: number;
  readonly keys: number;
  /** Absent at leaders of an earlier version. */
  readonly refusing?: readonly { readonly code: string }[] | undefined;
  /** Use and limit of the bounded tables, by name. */
  readonly tables?: Readonly<Record<string, { readonly used: number; readonly max: number }>> | undefined;
  readonly log?:
    | {
        readonly bytes: number;
        readonly replayMs: number;
        readonly cutBytes: number;
        readonly failedSnapshots: number;
      }
    | undefined;
  /** Jobs of the deepest queues. */
  readonly execs?:
    | readonly {
        readonly exec: string;
        readonly queued: number;
        readonly running: number;
        readonly oldestMs: number;
        readonly queuedByPriority?: Readonly<Record<string, number>> | undefined;
        readonly unserved?: number | undefined;
      }[]
    | undefined;
  /** Jobs in the leader that wait for a warm runner. */
  readonly runnerWaits?: readonly { readonly runner: string; readonly jobs: number }[] | undefined;
  readonly workers: readonly {
    readonly liveness: string;
    readonly running: number;
    readonly overrun?: number | undefined;
    readonly credit: number;
    readonly slots: number;
    readonly runners?: readonly RunnerUse[] | undefined;
  }[];
}

/** The instances of a warm runner in one worker, and the attempts that wait for one there. */
export interface RunnerUse {
  readonly runner: string;
  readonly loading: number;
  readonly idle: number;
  readonly held: number;
  readonly waiting: number;
}

export interface LeaderOverviewSource {
  overview(): Promise<LeaderOverview>;
}
