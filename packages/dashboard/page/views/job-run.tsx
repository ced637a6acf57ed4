import { useEffect, useState } from 'preact/hooks';
import { call, type JobRow } from '../api.js';
import { time } from '../parts/format.js';

const CHUNKS_MAX = 500;
const REFUSED_WITHIN_MS = 500;

/** The progress that its handler reports, and its log lines. */
export function Progress({ progress }: { readonly progress: JobRow['progress'] }) {
  if (progress === undefined) return null;
  const { share, note, lines, dropped } = progress;
  return (
    <>
      {share === undefined ? null : (
        <>
          <h2>Progress</h2>
          <div class="row">
            <progress max={1} value={share} aria-label="Progress" />
            <span>
              {Math.round(share * 100)} % {note}
            </span>
          </div>
        </>
      )}
      {lines.length === 0 ? null : (
        <>
          <h2>Log</h2>
          <pre aria-live="polite">
            {dropped === 0 ? '' : `${dropped} earlier lines are not kept\n`}
            {lines.map(({ at, text }) => `${time(at)} ${text}\n`).join('')}
          </pre>
        </>
      )}
    </>
  );
}

/** The stream of a job as it comes. */
export interface JobStream {
  /** False: the job does not stream, or that is not known yet. */
  readonly isStreaming: boolean;
  readonly lines: readonly string[];
}

export function useStream(id: string): JobStream {
  const [lines, setLines] = useState<readonly string[]>([]);
  const [isStreaming, setStreaming] = useState(false);
  useEffect(() => {
    let all: string[] = [];
    const source = new EventSource(`/api/jobs/${id}/stream`);
    // A stream that has no item yet is not answered; one that is refused is closed at once.
    setStreaming(false);
    const timer = setTimeout(() => setStreaming(source.readyState !== EventSource.CLOSED), REFUSED_WITHIN_MS);
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
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [id]);
  return { isStreaming, lines };
}

/** A job without chunks shows nothing. */
export function Chunks({ lines }: JobStream) {
  if (lines.length === 0) return null;
  return (
    <>
      <h2>Stream</h2>
      <pre aria-live="polite">{lines.join('')}</pre>
    </>
  );
}

/** Items for a job that is fed: JSON where the text is JSON, else the text. */
export function FeedBox({ id, feed }: { readonly id: string; readonly feed: JobRow['feed'] }) {
  const [problem, setProblem] = useState('');
  const [sent, setSent] = useState(0);
  if (feed !== undefined && feed.end !== '') return null;
  const write = (body: object, done: () => void): void => {
    call('POST', `/api/jobs/${id}/feed`, body).then(
      () => {
        setProblem('');
        done();
      },
      (error: Error) => setProblem(error.message),
    );
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = String(new FormData(form).get('item') ?? '');
    write({ item: itemOf(text) }, () => {
      setSent(sent + 1);
      form.reset();
    });
  };
  return (
    <>
      <h2>Feed</h2>
      <form class="row" onSubmit={submit}>
        <label>
          Item <input name="item" required autocomplete="off" />
        </label>
        <button type="submit" class="main">
          Feed
        </button>
        <button type="button" onClick={() => write({ final: true }, () => undefined)}>
          End the feed
        </button>
        <span class="quiet" role="status">
          {feed === undefined ? 'nothing fed yet' : `${feed.items} items, ${feed.taken} taken`}
        </span>
      </form>
      {problem === '' ? null : <p class="error">{problem}</p>}
    </>
  );
}

function itemOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
