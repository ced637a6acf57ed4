import { useState } from 'preact/hooks';
import { call, type JobRow } from '../api.js';
import { count } from '../parts/format.js';
import { JobTable } from '../parts/job-table.js';

interface Props {
  readonly jobs: readonly JobRow[];
  /** The filters of the search, as the API takes them. */
  readonly filter: Readonly<Record<string, string | number>>;
  /** With the result, which stays where the jobs of the list are others now. */
  readonly onChanged: (report: string) => void;
}

const REASON = 'by the dashboard';

type Act = 'redrive' | 'purge' | 'cancel';

const QUESTIONS: Readonly<Record<Act, (jobs: string) => string>> = {
  redrive: (jobs) => `Queue ${jobs} again?`,
  purge: (jobs) => `Delete ${jobs} for good?`,
  cancel: (jobs) => `Cancel ${jobs}?`,
};

/** Jobs of one state that can be changed together; each change names its number first. */
export function ChosenJobs({ jobs, filter, onChanged }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState('');
  const isDead = filter['state'] === 'dead';
  const choose = (id: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const run = async (work: () => Promise<string>): Promise<void> => {
    try {
      const text = await work();
      if (text === '') return;
      setProblem('');
      setChosen(new Set());
      onChanged(text);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const change = (act: Act): Promise<void> =>
    run(async () => {
      if (!confirm(QUESTIONS[act](jobsText(chosen.size, isDead)))) return '';
      return act === 'cancel' ? cancelChosen([...chosen]) : changeDead(act, [...chosen]);
    });
  const redriveAll = (): Promise<void> =>
    run(async () => {
      const { matched } = await redriveWhere({ filter, dryRun: true });
      if (matched === 0) return 'No dead letter fits any more';
      if (!confirm(QUESTIONS.redrive(jobsText(matched, true)))) return '';
      // No more than the question has named.
      const { redriven } = await redriveWhere({ filter, dryRun: false, max: matched });
      return `${count(redriven)} of ${count(matched)} queued again`;
    });
  const cancelAll = (): Promise<void> =>
    run(async () => {
      const { matched } = await cancelWhere({ filter, dryRun: true });
      if (matched === 0) return 'No job fits any more';
      if (!confirm(QUESTIONS.cancel(jobsText(matched, false)))) return '';
      // No more than the question has named: jobs that came since stay.
      const { cancelled } = await cancelWhere({ filter, dryRun: false, max: matched, reason: REASON });
      return `${count(cancelled)} of ${count(matched)} cancelled`;
    });
  const none = chosen.size === 0;
  const chosenText = none ? 'chosen' : count(chosen.size);
  return (
    <>
      <div class="row">
        <button type="button" onClick={() => setChosen(new Set(jobs.map(({ id }) => id)))}>
          Choose this page ({count(jobs.length)})
        </button>
        {isDead ? (
          <>
            <button type="button" class="main" disabled={none} onClick={() => void change('redrive')}>
              Queue {chosenText} again
            </button>
            <button type="button" disabled={none} onClick={() => void change('purge')}>
              Delete {chosenText}
            </button>
            <button type="button" onClick={() => void redriveAll()}>
              Queue all that fit again …
            </button>
          </>
        ) : (
          <>
            <button type="button" disabled={none} onClick={() => void change('cancel')}>
              Cancel {chosenText}
            </button>
            <button type="button" onClick={() => void cancelAll()}>
              Cancel all that fit …
            </button>
          </>
        )}
      </div>
      {problem === '' ? null : <p class="error">{problem}</p>}
      <JobTable jobs={jobs} chosen={chosen} onChoose={choose} />
    </>
  );
}

function jobsText(jobs: number, isDead: boolean): string {
  const noun = isDead ? 'dead letter' : 'job';
  return `${count(jobs)} ${noun}${jobs === 1 ? '' : 's'}`;
}

async function changeDead(act: 'redrive' | 'purge', ids: readonly string[]): Promise<string> {
  const { count: changed } = await call<{ readonly count: number }>('POST', `/api/dead-letters/${act}`, {
    ids,
  });
  return `${changed} of ${ids.length} ${act === 'redrive' ? 'queued again' : 'deleted'}`;
}

/** One after the other: the leader is not to be flooded by a page. */
async function cancelChosen(ids: readonly string[]): Promise<string> {
  let cancelled = 0;
  for (const id of ids) {
    const { state } = await call<{ readonly state: string }>('POST', `/api/jobs/${id}/cancel`, {
      reason: REASON,
    });
    if (state === 'cancelled') cancelled += 1;
  }
  return `${cancelled} of ${ids.length} cancelled`;
}

function redriveWhere(body: object): Promise<{ readonly matched: number; readonly redriven: number }> {
  return call('POST', '/api/dead-letters/redrive-where', body);
}

function cancelWhere(body: object): Promise<{ readonly matched: number; readonly cancelled: number }> {
  return call('POST', '/api/jobs/cancel-where', body);
}
