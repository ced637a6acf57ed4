import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineJob, type JobDefinition } from '@troupe/jobs';
import { HttpProblem } from '../../problem/http-problem.js';

/** Values pass as they are, and the worker checks them. */
const ANY: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'troupe', validate: (value) => ({ value }) },
};

/** A session announces each definition once, and the leader keeps it; so their number is bounded. */
const UNTYPED_MAX = 1_000;

/** Definitions by exec: those that the program gave, with their schemas, and untyped ones for any other. */
export class JobDefinitions {
  readonly given: ReadonlyMap<string, JobDefinition>;
  private readonly untyped = new Map<string, JobDefinition>();
  /** For calls that concern a job by its id. */
  readonly any: JobDefinition = defineJob('any', { input: ANY, output: ANY, chunk: ANY });

  /** For feeds. */
  readonly fed = defineJob('any', { input: ANY, output: ANY, chunk: ANY, feed: ANY });

  constructor(given: readonly JobDefinition[]) {
    this.given = new Map(given.map((job) => [job.exec, job]));
  }

  /** For a submit. `streams`: its chunks will be read. `isFed`: clients may feed it, and read its chunks. */
  of(
    exec: string,
    group: string | undefined,
    { streams, isFed }: { readonly streams: boolean; readonly isFed: boolean },
  ): JobDefinition {
    const given = this.given.get(exec);
    if (given !== undefined) return given;
    const name = `${exec} ${group ?? ''} ${streams} ${isFed}`;
    const known = this.untyped.get(name);
    if (known !== undefined) return known;
    if (this.untyped.size >= UNTYPED_MAX)
      throw new HttpProblem(
        503,
        'ERR_HTTP_EXECS_FULL',
        `this gateway has announced ${UNTYPED_MAX} definitions; give it the jobs by name, or start it again`,
      );
    const options = { input: ANY, output: ANY, ...(group === undefined ? {} : { group }) };
    const streamed = streams || isFed ? { ...options, chunk: ANY } : options;
    const job = defineJob(exec, isFed ? { ...streamed, feed: ANY } : streamed);
    this.untyped.set(name, job);
    return job;
  }
}
