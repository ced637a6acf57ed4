import type { Client, JobView } from '@troupe/jobs';
import { untypedJob } from '../input/job/untyped-job.js';
import { explanationLines } from '../output/text/explanation-text.js';
import { jobLines, shownJob } from '../output/text/job-text.js';
import { workersByName } from '../output/text/worker-table.js';
import { LookHistory } from './look-history.js';
import type { TopFigures } from './top-screen.js';
import type { ListedRows, TopState } from './top-state.js';

const LOOK_WITHIN_MS = 2_000;
const JOBS_SHOWN = 200;
const PAGE = 1_000;
/** Jobs of one look that are compared with a worker: no index has them by worker. */
const COMPARED_MAX = 10_000;
/** The leader may be back at the next look. */
const PASSING = new Set(['ERR_CALL_WAIT', 'ERR_LEADER_BUSY']);
const ANY_JOB = untypedJob('some.job');

/** Looks at a leader for the screen: the overview always, jobs where the screen shows them. */
export class TopLooks {
  private readonly client: Client;
  private readonly leader: string;
  private readonly onChange: () => void;
  private readonly onRefused: (error: Error) => void;
  private readonly history = new LookHistory();
  private jobs: TopFigures['jobs'] = [];
  private hasMoreJobs = false;
  private jobsProblem: string | undefined = undefined;
  private wanted: TopState | undefined = undefined;
  private lines: readonly string[] = [];
  private awaySince: number | undefined = undefined;
  private isLooking = false;
  private isClosed = false;

  /** `onRefused`: no later look can succeed. */
  constructor(client: Client, leader: string, onChange: () => void, onRefused: (error: Error) => void) {
    this.client = client;
    this.leader = leader;
    this.onChange = onChange;
    this.onRefused = onRefused;
  }

  get figures(): TopFigures {
    const { leader, history, jobs, hasMoreJobs, jobsProblem, lines, awaySince } = this;
    const awayMs = awaySince === undefined ? undefined : performance.now() - awaySince;
    return { leader, looks: history.all, awayMs, jobs, hasMoreJobs, jobsProblem, jobLines: lines };
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
          this.history.add({ ...seen, workers: workersByName(seen.workers) }, performance.now());
          this.awaySince = undefined;
        },
        (error: Error) => {
          if ('code' in error && PASSING.has(String(error.code))) this.awaySince ??= performance.now();
          else if (!this.isClosed) this.onRefused(error);
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
      let problem: string | undefined;
      const views = await this.listed(state).catch((error: Error) => {
        problem = error.message;
        return [];
      });
      if (this.wanted.jobState !== state.jobState || this.wanted.of !== state.of) return;
      this.jobsProblem = problem;
      this.hasMoreJobs = views.length > JOBS_SHOWN;
      this.jobs = views.slice(0, JOBS_SHOWN).map((one) => ({ id: this.client.idOf(one.job), view: one }));
    }
    if (view === 'job' && job !== undefined) this.lines = await this.jobText(job);
  }

  private async listed({ jobState, of: { exec, worker } }: TopState): Promise<readonly JobView[]> {
    const options = { max: JOBS_SHOWN + 1, withinMs: LOOK_WITHIN_MS };
    if (exec !== undefined) return (await this.client.search({ exec, state: jobState }, options)).jobs;
    return worker === undefined ? this.client.list(jobState, options) : this.ofWorker(jobState, worker);
  }

  private async ofWorker(state: JobView['state'], worker: string): Promise<readonly JobView[]> {
    const found: JobView[] = [];
    let [after, compared] = [0, 0];
    while (found.length <= JOBS_SHOWN && compared < COMPARED_MAX) {
      const page = await this.client.list(state, { after, max: PAGE, withinMs: LOOK_WITHIN_MS });
      found.push(...page.filter((one) => one.worker === worker));
      compared += page.length;
      if (page.length < PAGE) break;
      after = page.at(-1)?.job ?? 0;
    }
    return found;
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
