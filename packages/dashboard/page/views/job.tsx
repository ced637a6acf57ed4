import { useEffect, useState } from 'preact/hooks';
import { call, type JobRow } from '../api.js';
import { bytes, time } from '../parts/format.js';

const OUTPUT_CHARS_MAX = 100_000;
const CHUNKS_MAX = 500;

/** One job: its times, its last error, its output, and its chunks while it runs. */
export function JobView({ id }: { readonly id: string }) {
  const [job, setJob] = useState<JobRow | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [looks, setLooks] = useState(0);
  // A change of `looks` asks for another look.
  useEffect(() => {
    const look = (): void => {
      call<JobRow>('GET', `/api/jobs/${id}`).then(setJob, (error: Error) => setProblem(error.message));
    };
    look();
    const timer = setInterval(look, 1_000);
    return () => clearInterval(timer);
  }, [id, looks]);
  if (problem !== '') return <p class="error">{problem}</p>;
  if (job === undefined) return <p class="empty">Looking for {id} …</p>;
  const isOpen = job.state === 'queued' || job.state === 'running';
  const act = (path: string, body: object): void => {
    call('POST', path, body).then(
      () => setLooks(looks + 1),
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <>
      <h1>
        {job.exec} <span class={`state ${job.state}`}>{job.state}</span>
      </h1>
      <div class="row">
        <button
          type="button"
          disabled={!isOpen}
          onClick={() => act(`/api/jobs/${id}/cancel`, { reason: 'by the dashboard' })}
        >
          Cancel
        </button>
        <button
          type="button"
          disabled={job.state !== 'dead'}
          onClick={() => act('/api/dead-letters/redrive', { ids: [id] })}
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
            {time(job.submittedAt)} by {job.client}, {bytes(job.payloadBytes)}
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
      {job.state === 'done' ? <Output id={id} /> : null}
      <Chunks id={id} />
    </>
  );
}

function Output({ id }: { readonly id: string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    call<{ output: unknown }>('GET', `/api/jobs/${id}/result`).then(
      ({ output }) => setText(JSON.stringify(output, null, 2).slice(0, OUTPUT_CHARS_MAX)),
      (error: Error) => setText(error.message),
    );
  }, [id]);
  return (
    <>
      <h2>Output</h2>
      <pre>{text}</pre>
    </>
  );
}

/** The chunks as they come. A job that does not stream has none, and shows nothing. */
function Chunks({ id }: { readonly id: string }) {
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    let all: string[] = [];
    const source = new EventSource(`/api/jobs/${id}/stream`);
    const add = (line: string): void => {
      all = [...all.slice(1 - CHUNKS_MAX), line];
      setLines(all);
    };
    source.addEventListener('data', ({ data }: MessageEvent<string>) => {
      const { chunk } = JSON.parse(data) as { chunk: unknown };
      add(typeof chunk === 'string' ? chunk : `${JSON.stringify(chunk)}\n`);
    });
    source.addEventListener('reset', () => add('\n— another attempt —\n'));
    source.addEventListener('gap', () => add('\n— chunks that are no longer held —\n'));
    source.addEventListener('end', () => source.close());
    // A job without a stream is refused; the browser would ask again for ever.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) source.close();
    };
    return () => source.close();
  }, [id]);
  if (lines.length === 0) return null;
  return (
    <>
      <h2>Stream</h2>
      <pre aria-live="polite">{lines.join('')}</pre>
    </>
  );
}
