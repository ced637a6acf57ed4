import type { EndedAttempt, Failure, JobRow } from '../api.js';
import { span, time } from '../parts/format.js';

/** The course of a job: each attempt with its worker, its times and its error. */
export function Attempts({ job }: { readonly job: JobRow }) {
  const ended = endedOf(job);
  const isRunning = job.state === 'running';
  if (ended.length === 0 && !isRunning) return null;
  const [{ attempt: first } = { attempt: job.attempt }] = ended;
  return (
    <>
      <h2>Attempts</h2>
      <ol class="card course" aria-label="Attempts">
        {first > 1 ? <li class="quiet">Earlier attempts are not kept.</li> : null}
        {ended.map((one) => (
          <Ended key={`${one.attempt} ${one.endedAt}`} {...one} />
        ))}
        {isRunning ? (
          <li class="running">
            <strong>Attempt {job.attempt}</strong> <span class="state running">runs</span>
            {job.startedAt === undefined ? '' : ` since ${time(job.startedAt)}`} on {job.worker || 'a worker'}
          </li>
        ) : null}
        {job.state === 'queued' && job.dueAt > Date.now() ? (
          <li class="quiet">The next attempt is due at {time(job.dueAt)}.</li>
        ) : null}
      </ol>
    </>
  );
}

/** Of a job that is done with its first attempt, or of a folder of an earlier version: the last one, as far as it is known. */
function endedOf(job: JobRow): readonly EndedAttempt[] {
  if (job.attempts !== undefined) return job.attempts;
  const { attempt, worker, endedAt, failure, state } = job;
  if (attempt === 0 || state === 'running' || (state === 'queued' && failure === undefined)) return [];
  const ending = state === 'queued' ? 'failed' : state === 'dead' ? job.reason : state;
  return [{ attempt, worker, startedAt: 0, endedAt, ending, failure }];
}

export const ENDING_TEXTS: Readonly<Record<string, string>> = {
  final: 'failed for good',
  'timed-out': 'ran out of time',
  'worker-lost': 'was lost with its worker',
  quarantined: 'was lost with its worker once too often',
  released: 'was given back',
  'payload-lost': 'could not have its input',
  'feed-dropped': 'cannot be tried again: the beginning of its feed is not kept',
};

function Ended({ attempt, worker, startedAt, endedAt, ending, failure }: EndedAttempt) {
  const look =
    ending === 'done' ? 'done' : ending === 'released' || ending === 'cancelled' ? 'cancelled' : 'dead';
  return (
    <li class={look}>
      <strong>Attempt {attempt}</strong> <span class={`state ${look}`}>{ENDING_TEXTS[ending] ?? ending}</span>
      {startedAt === 0 || endedAt === 0 ? '' : ` after ${span(endedAt - startedAt)}`}
      {endedAt === 0 ? '' : ` at ${time(endedAt)}`}
      {worker === '' ? '' : ` on ${worker}`}
      {failure === undefined ? null : <FailureText {...failure} />}
    </li>
  );
}

function FailureText({ name, message, code, stack, cause }: Failure) {
  return (
    <div class="failure">
      <p class="error">
        {name}: {message} {code === undefined ? '' : `(${code})`}
      </p>
      {stack === undefined ? null : (
        <details>
          <summary>Stack</summary>
          <pre>{stack}</pre>
        </details>
      )}
      {cause === undefined ? null : (
        <>
          <p class="quiet">caused by</p>
          <FailureText {...cause} />
        </>
      )}
    </div>
  );
}
