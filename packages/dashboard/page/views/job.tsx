import type { JobRow } from '../api.js';
import { bytes, time } from '../parts/format.js';
import { useLook } from '../parts/use-look.js';
import { useStream } from '../parts/use-stream.js';
import { Explanation } from './explanation.js';
import { Input, Output } from './job-content.js';
import { Chunks, FeedBox, Progress } from './job-run.js';

/** One job: its times, its last error, its output, and its chunks while it runs. */
export function JobView({ id }: { readonly id: string }) {
  const { value: job, problem, change } = useLook<JobRow>(`/api/jobs/${id}`, 1_000);
  const isOpen = job === undefined ? undefined : job.state === 'queued' || job.state === 'running';
  const stream = useStream(id, isOpen);
  if (job === undefined)
    return problem === '' ? <p class="empty">Looking for {id} …</p> : <p class="error">{problem}</p>;
  return (
    <>
      <h1>
        {job.exec} <span class={`state ${job.state}`}>{job.state}</span>
      </h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      <div class="row">
        <button
          type="button"
          disabled={!isOpen}
          onClick={() => change('POST', `/api/jobs/${id}/cancel`, { reason: 'by the dashboard' })}
        >
          Cancel
        </button>
        <button
          type="button"
          disabled={job.state !== 'dead'}
          onClick={() => change('POST', '/api/dead-letters/redrive', { ids: [id] })}
        >
          Queue again
        </button>
        <code>npx troupe show {id}</code>
      </div>
      <div class="card">
        <dl>
          <dt>Id</dt>
          <dd>{id}</dd>
          <dt>Submitted</dt>
          <dd>
            {time(job.submittedAt)} by {job.client}
            {isOpen || job.state === 'dead' ? `, ${bytes(job.payloadBytes)}` : ''}
          </dd>
          <dt>Due</dt>
          <dd>{time(job.dueAt)}</dd>
          <dt>Attempt</dt>
          <dd>
            {job.attempt}, {job.failures} failed, {job.crashes} lost with a worker
          </dd>
          <dt>Worker</dt>
          <dd>{job.worker || '–'}</dd>
          <dt>Ended</dt>
          <dd>
            {time(job.endedAt)} {job.reason}
          </dd>
        </dl>
      </div>
      {job.failure === undefined ? null : (
        <>
          <h2>Last error</h2>
          <pre>{job.failure.stack ?? `${job.failure.name}: ${job.failure.message}`}</pre>
        </>
      )}
      {job.state === 'queued' ? <Explanation id={id} /> : null}
      <Progress progress={job.progress} />
      {isOpen && (stream.isStreaming || job.feed !== undefined) ? <FeedBox id={id} feed={job.feed} /> : null}
      <Chunks {...stream} />
      {job.state === 'done' ? <Output id={id} /> : null}
      <Input id={id} state={job.state} />
    </>
  );
}
