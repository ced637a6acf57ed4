import { keepClassNames } from '@troupe/core/class-names';
import { JobsError } from '../jobs-error.js';

/** A job of a test has no output. The text has its history; `cause` is the error of the client. */
export class TestJobError extends JobsError {
  override readonly code = 'ERR_TEST_JOB';
  readonly jobId: string;
  /** One line for each event of the job, oldest first. */
  readonly history: readonly string[];

  constructor(jobId: string, history: readonly string[], cause: Error) {
    super([cause.message, ...history].join('\n'), { cause });
    this.jobId = jobId;
    this.history = history;
  }
}

/** Node has nothing left to do, and a world of jobs is still open. */
export class UnclosedJobsError extends JobsError {
  override readonly code = 'ERR_TEST_JOBS_UNCLOSED';

  constructor() {
    super(
      'a world of testJobs is open and nothing can go on: an await waits for virtual time, which only ' +
        '`world.run(…)`, `world.result(…)` and `world.advance(ms)` move; or the world was not closed (`await using`)',
    );
  }
}

keepClassNames({ TestJobError, UnclosedJobsError });
