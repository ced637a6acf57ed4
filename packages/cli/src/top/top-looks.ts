import type { Client, JobView } from '@troupe/jobs';
import { untypedJob } from '../input/job/untyped-job.js';
import { explanationLines } from '../output/text/explanation-text.js';
import { jobLines, shownJob } from '../output/text/job-text.js';
import { LookHistory } from './look-history.js';
import type { TopFigures } from './top-screen.js';
import type { ListedRows, TopState } from './top-state.js';

const LOOK_WITHIN_MS = 2_000;
const JOBS_SHOWN = 200;
const ANY_JOB = untypedJob('some.job');

/** Looks at a leader for the screen: the overview always, jobs where the screen shows them. */
export class TopLooks {
  private readonly client: Client;
  private readonly leader: string;
  private readonly onChange: () => void;
  private readonly history = new LookHistory();
  private jobs: TopFigures['jobs'] = [];
  private hasMoreJobs = false;
  private wanted: TopState | undefined = undefined;
  private lines: readonly string[] = [];
  private awaySince: number | undefined = undefined;
  private isLooking = false;
  private isClosed = false;

  constructor(client: Client, leader: string, onChange: () => void) {
    this.client = client;
    this.leader = leader;
    this.onChange = onChange;
  }

  get figures(): TopFigures {
    const { leader, history, jobs, hasMoreJobs, lines, awaySince } = this;
    const awayMs = awaySince === undefined ? undefined : performance.now() - awaySince;
    return { leader, looks: history.all, awayMs, jobs, hasMoreJobs, jobLines: lines };
  }

  rowsOf({ view }: TopState): ListedRows {
    if (view === 'jobs') return { count: this.jobs.length, jobs: this.jobs.map((one) => one.view.job) };
    const { workers = [], execs = [] } = this.history.latest?.overview ?? {};
    const names = view === 'execs' ? execs.map(({ exec }) => exec) : workers.map(({ worker }) => worker);
    return { count: names.length, jobs: [], names };
  }

  /** Another view has other jobs: those of the last one are not shown in it. */
  stateChanged(state: TopState): void {
    if (state.view !== 'jobs' && state.view !== 'job') return;
    void this.lookAtJobs(state).then(() => this.changed());
  }

  /** A look that takes longer than the time between two is not overtaken by the next one. */
  look(state: TopState): void {
    if (this.isLooking) return;
    this.isLooking = true;
    const overview = this.client.overview({ withinMs: LOOK_WITHIN_MS });
    void Promise.all([overview, this.lookAtJobs(state)])
      .then(
        ([seen]) => {
          this.history.add(seen, performance.now());
          this.awaySince = undefined;
        },
        () => {
          this.awaySince ??= performance.now();
        },
      )
      .finally(() => {
        this.isLooking = false;
        this.changed();
      });
  }

  close(): void {
    this.isClosed = true;
  }

  private changed(): void {
    if (!this.isClosed) this.onChange();
  }

  /** An answer for a list that the screen has left meanwhile is dropped. */
  private async lookAtJobs(state: TopState): Promise<void> {
    const { view, job } = state;
    this.wanted = state;
    if (view === 'jobs') {
      const views = await this.listed(state).catch(() => []);
      if (this.wanted.jobState !== state.jobState || this.wanted.of !== state.of) return;
      this.hasMoreJobs = views.length > JOBS_SHOWN;
      this.jobs = views.slice(0, JOBS_SHOWN).map((one) => ({ id: this.client.idOf(one.job), view: one }));
    }
    if (view === 'job' && job !== undefined) this.lines = await this.jobText(job);
  }

  private async listed({ jobState, of: { exec, worker } }: TopState): Promise<readonly JobView[]> {
    const options = { max: JOBS_SHOWN + 1, withinMs: LOOK_WITHIN_MS };
    if (exec !== undefined) return (await this.client.search({ exec, state: jobState }, options)).jobs;
    const views = await this.client.list(jobState, options);
    return worker === undefined ? views : views.filter((one) => one.worker === worker);
  }

  private async jobText(job: number): Promise<readonly string[]> {
    const id = this.client.idOf(job);
    try {
      const limit = { withinMs: LOOK_WITHIN_MS };
      const view = await this.client.open(ANY_JOB, id).inspect(limit);
      const lines = jobLines(shownJob(id, view));
      if (view.state !== 'queued') return lines;
      const explanation = await this.client.explain(id, limit);
      return [...lines, '', ...explanationLines(id, explanation, (one) => this.client.idOf(one))];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }
}
