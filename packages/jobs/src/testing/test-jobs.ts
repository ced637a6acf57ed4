import type { Client } from '../client/client.js';
import type { JobHandle } from '../client/handles/job-handle.js';
import type { SubmitOptions } from '../client/submit/submit-preparer.js';
import { type EmbeddedJobs, embedded } from '../embedded/embedded-jobs.js';
import type { JobDefinition, JobInput, JobOutput } from '../job/definition/define-job.js';
import type { HandledJob } from '../worker/handlers/handler.js';
import { JobHistories } from './job-histories.js';
import { type MemoryLog, memoryJournal } from './memory-journal.js';
import { memorySpill } from './memory-spill.js';
import { TestJobError, UnclosedJobsError } from './testing-errors.js';
import { VirtualTimeHost } from './virtual-time-host.js';

/** `run` and `result` give up after so much virtual time. */
const WITHIN_MS = 3_600_000;
/** Time moves by at most this where no timer is due earlier. */
const STEP_MS = 1_000;

export interface TestJobsOptions {
  /** Jobs with their handlers, made by `handle(job, run)`. */
  readonly handlers: readonly HandledJob[];
  /** The log of an earlier world: its jobs go on here. Default: a new, empty one. */
  readonly log?: MemoryLog | undefined;
}

/** The job system in this process, without a disk and in virtual time. */
export interface TestJobs extends AsyncDisposable {
  /** A client. Its calls go on by themselves as far as they need no time. */
  readonly client: Client;
  /** The clock of the world, and the log lines. */
  readonly host: VirtualTimeHost;
  /** Everything that was made durable, for a later world. */
  readonly log: MemoryLog;
  /** Moves time by `ms`, from timer to timer, and finishes what each has caused. */
  advance(ms: number): Promise<void>;
  /**
   * Submits, moves time until the job has ended, and resolves with the output. Rejects with
   * {@link TestJobError}, which prints the history of the job; after an hour of virtual time too.
   */
  run<D extends JobDefinition>(job: D, input: JobInput<D>, options?: SubmitOptions): Promise<JobOutput<D>>;
  /** As `run`, for a job that was submitted. */
  result<D extends JobDefinition>(handle: JobHandle<D>): Promise<JobOutput<D>>;
  /** The events of a job, one line each. */
  history(id: string): readonly string[];
}

/** A leader, a worker with these handlers and a client, in virtual time and in memory. */
export async function testJobs({ handlers, log = newLog() }: TestJobsOptions): Promise<TestJobs> {
  const host = new VirtualTimeHost();
  const histories = new JobHistories(() => host.now());
  const journal = memoryJournal(log, (run) => host.later(run));
  const spill = memorySpill({ files: log.files ?? new Map() }, (run) => host.later(run));
  const jobs = await embedded({ journal, spill, host, observe: histories.observe });
  histories.tag = (await jobs.overview()).tag;
  jobs.worker({ handlers, onFailure: histories.attemptFailed });
  return new TestJobsWorld(jobs, host, log, histories);
}

function newLog(): MemoryLog {
  return { entries: [], files: new Map() };
}

class TestJobsWorld implements TestJobs {
  readonly client: Client;
  readonly host: VirtualTimeHost;
  readonly log: MemoryLog;
  private readonly jobs: EmbeddedJobs;
  private readonly histories: JobHistories;

  constructor(jobs: EmbeddedJobs, host: VirtualTimeHost, log: MemoryLog, histories: JobHistories) {
    this.jobs = jobs;
    this.host = host;
    this.log = log;
    this.histories = histories;
    this.client = jobs.client({ name: 'test' });
    process.on('beforeExit', refuseToEnd);
  }

  async advance(ms: number): Promise<void> {
    const { host } = this;
    const until = host.now() + ms;
    await host.settled();
    do await host.moveTowards(until);
    while (host.now() < until);
  }

  async run<D extends JobDefinition>(
    job: D,
    input: JobInput<D>,
    options?: SubmitOptions,
  ): Promise<JobOutput<D>> {
    return this.result(await this.client.submit(job, input, options));
  }

  async result<D extends JobDefinition>(handle: JobHandle<D>): Promise<JobOutput<D>> {
    try {
      return await this.moveUntil(handle.result({ withinMs: WITHIN_MS }));
    } catch (error) {
      throw new TestJobError(handle.id, this.history(handle.id), error as Error);
    }
  }

  history(id: string): readonly string[] {
    return this.histories.of(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('beforeExit', refuseToEnd);
    await this.moveUntil(this.jobs.close());
  }

  /** From timer to timer; the promise must settle by itself at some time. */
  private async moveUntil<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    // A rejection is the caller's, below.
    promise.then(settle, settle);
    await this.host.settled();
    while (!isSettled) await this.host.moveTowards(this.host.now() + STEP_MS);
    return promise;
  }
}

function refuseToEnd(): void {
  throw new UnclosedJobsError();
}
