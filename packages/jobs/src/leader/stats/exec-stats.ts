import { DurationHistogram } from './duration-histogram.js';
import { RecentCount } from './recent-count.js';

/** Events of the jobs of one exec since the leader started. */
export class ExecStats {
  readonly waits = new DurationHistogram();
  readonly runs = new DurationHistogram();
  readonly accepted = new RecentCount();
  readonly done = new RecentCount();
  /** Attempts that failed, ran out of time or lost their worker. */
  readonly failed = new RecentCount();
  readonly dead = new RecentCount();
  /** Or did not begin in time. */
  cancelled = 0;
}

/** An exec that is used once must not stay for ever. */
const EXECS_MAX = 4_096;

/** By exec. */
export class LeaderStats {
  private readonly byExec = new Map<string, ExecStats>();
  /** Most events come in runs of one exec. */
  private lastExec = '';
  private last = new ExecStats();

  of(exec: string): ExecStats {
    if (exec === this.lastExec) return this.last;
    this.lastExec = exec;
    this.last = this.byExec.get(exec) ?? this.make(exec);
    return this.last;
  }

  private make(exec: string): ExecStats {
    const stats = new ExecStats();
    const [oldest] = this.byExec.keys();
    if (this.byExec.size >= EXECS_MAX && oldest !== undefined) this.byExec.delete(oldest);
    this.byExec.set(exec, stats);
    return stats;
  }
}
