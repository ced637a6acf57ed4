import type { JobRow, JobState } from '../api.js';
import { Command } from '../parts/command.js';
import { bytes, count, span, time } from '../parts/format.js';
import { useFollowed } from '../parts/use-look.js';
import { useStream } from '../parts/use-stream.js';
import { Attempts, ENDING_TEXTS } from './attempts.js';
import { Explanation } from './explanation.js';
import { Input, Output } from './job-content.js';
import { Chunks, FeedBox, Progress } from './job-run.js';

const NOT_FOUND = 404;

/** One job: its times, its attempts, its output, and its chunks while it runs. */
export function JobView({ id }: { readonly id: string }) {
  const { value: job, problem, status, change } = useFollowed<JobRow>(`/api/jobs/${id}`);
  const isOpen = job === undefined ? undefined : job.state === 'queued' || job.state === 'running';
  const stream = useStream(id, isOpen);
  if (status === NOT_FOUND) return <Unknown problem={problem} />;
  if (job === undefined)
    return problem === '' ? <p class="empty">Looking for {id} …</p> : <p class="error">{problem}</p>;
  return (
    <>
      <h1>
        {job.exec} <span class={`state ${job.state}`}>{job.state}</span>
      </h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {isOpen || job.state === 'dead' ? (
        <div class="row">
          {isOpen ? (
            <button
              type="button"
              onClick={() => change('POST', `/api/jobs/${id}/cancel`, { reason: 'by the dashboard' })}
            >
              Cancel
            </button>
          ) : (
            <>
              <button
                type="button"
                class="main"
                onClick={() => change('POST', '/api/dead-letters/redrive', { ids: [id] })}
              >
                Queue again
              </button>
              <button
                type="button"
                onClick={() => {
                  if (confirm(`Delete the dead letter ${id} for good?`))
                    change('POST', '/api/dead-letters/purge', { ids: [id] });
                }}
              >
                Delete
              </button>
            </>
          )}
        </div>
      ) : null}
      <div class="card">
        <dl>
          <dt>Id</dt>
          <dd>{id}</dd>
          <dt>Submitted</dt>
          <dd>
            {time(job.submittedAt)} by {job.client}
            {isOpen || job.state === 'dead' ? `, with ${bytes(job.payloadBytes)} of input` : ''}
          </dd>
          {job.dueAt === 0 || !isOpen ? null : (
            <>
              <dt>Due</dt>
              <dd>{time(job.dueAt)}</dd>
            </>
          )}
          {job.key === undefined ? null : (
            <>
              <dt>Key</dt>
              <dd>{job.key}</dd>
            </>
          )}
          {job.orderKey === undefined ? null : (
            <>
              <dt>Order key</dt>
              <dd>{job.orderKey}</dd>
            </>
          )}
          {job.priority === undefined ? null : (
            <>
              <dt>Priority</dt>
              <dd>{job.priority}</dd>
            </>
          )}
          {job.tags === undefined ? null : (
            <>
              <dt>Tags</dt>
              <dd>
                {job.tags.map((tag) => (
                  <a key={tag} class="tag" href={`#/jobs?tag=${encodeURIComponent(tag)}`}>
                    {tag}
                  </a>
                ))}
              </dd>
            </>
          )}
          <dt>Attempts</dt>
          <dd>{attemptsText(job)}</dd>
          {job.endedAt === 0 ? null : (
            <>
              <dt>Ended</dt>
              <dd>
                {time(job.endedAt)}, {span(job.endedAt - job.submittedAt)} after its submit
                {job.reason === '' ? '' : `: ${ENDING_TEXTS[job.reason] ?? job.reason}`}
              </dd>
            </>
          )}
        </dl>
      </div>
      <Attempts job={job} />
      {job.state === 'queued' ? <Explanation id={id} /> : null}
      <Progress progress={job.progress} />
      {isOpen && (stream.isStreaming || job.feed !== undefined) ? <FeedBox id={id} feed={job.feed} /> : null}
      <Chunks {...stream} />
      {job.state === 'done' ? <Output id={id} /> : null}
      <Input id={id} exec={job.exec} state={job.state} />
      <h2>In a terminal</h2>
      <div class="commands">
        {commandsOf(id, job.state).map((text) => (
          <Command key={text} text={text} />
        ))}
      </div>
    </>
  );
}

/** It never was, or was dropped by its retention. */
function Unknown({ problem }: { readonly problem: string }) {
  return (
    <>
      <h1>No such job</h1>
      <div class="empty">
        <p class="error">{problem}</p>
        <p>Jobs that ended long ago are dropped by their retention. Search for others by their fields:</p>
        <a href="#/jobs">Jobs</a>
      </div>
    </>
  );
}

/** `4: 2 failed, 1 lost with a worker`; `3 failed` where that is all */
function attemptsText({ attempt, failures, crashes }: JobRow): string {
  if (failures === attempt && attempt > 0) return `${count(attempt)} failed`;
  const ended = [
    failures === 0 ? '' : `${count(failures)} failed`,
    crashes === 0 ? '' : `${count(crashes)} lost with a worker`,
  ].filter((text) => text !== '');
  return ended.length === 0 ? count(attempt) : `${count(attempt)}: ${ended.join(', ')}`;
}

function commandsOf(id: string, state: JobState): readonly string[] {
  const show = `npx troupe show ${id}`;
  if (state === 'dead') return [show, `npx troupe dlq redrive ${id}`, `npx troupe dlq purge ${id}`];
  if (state === 'queued') return [show, `npx troupe explain ${id}`, `npx troupe cancel ${id}`];
  if (state === 'running') return [show, `npx troupe await ${id}`, `npx troupe cancel ${id}`];
  return [show];
}
