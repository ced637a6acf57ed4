import { useState } from 'preact/hooks';
import { call, type JobRow } from '../api.js';
import { amount, time } from '../parts/format.js';
import { Tail } from '../parts/tail.js';
import type { JobStream } from '../parts/use-stream.js';

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
          <Tail
            label="Log"
            text={
              (dropped === 0 ? '' : `${dropped} earlier lines are not kept\n`) +
              lines.map(({ at, text }) => `${time(at)} ${text}\n`).join('')
            }
          />
        </>
      )}
    </>
  );
}

/** A job without chunks shows nothing. */
export function Chunks({ lines }: JobStream) {
  if (lines.length === 0) return null;
  return (
    <>
      <h2>Stream</h2>
      <Tail label="Stream" text={lines.join('')} />
    </>
  );
}

/** Items for a job that is fed: JSON where the text is JSON, else the text. */
export function FeedBox({ id, feed }: { readonly id: string; readonly feed: JobRow['feed'] }) {
  const [problem, setProblem] = useState('');
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
    write({ item: itemOf(text) }, () => form.reset());
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
          {feed === undefined ? 'nothing fed yet' : `${amount(feed.items, 'item')}, ${feed.taken} taken`}
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
