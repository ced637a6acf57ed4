import { useEffect, useState } from 'preact/hooks';
import { call, JOB_STATES, type JobRow } from '../api.js';
import { JobTable } from '../parts/job-table.js';
import { goTo, type Route } from '../route.js';

interface Page {
  readonly jobs: readonly JobRow[];
  readonly next?: number | undefined;
}

const PAGE_ROWS = 50;

/** Jobs of one state, page by page; dead letters can be chosen and put back or deleted. */
export function JobsView({ query }: Route) {
  const state = query.get('state') ?? 'queued';
  const after = query.get('after') ?? '0';
  const [page, setPage] = useState<Page | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [looks, setLooks] = useState(0);
  // A change of `looks` asks for another look.
  useEffect(() => {
    setPage(undefined);
    setProblem('');
    call<Page>('GET', `/api/jobs?state=${state}&after=${after}&max=${PAGE_ROWS}`).then(
      setPage,
      (error: Error) => setProblem(error.message),
    );
  }, [state, after, looks]);
  return (
    <>
      <h1>Jobs</h1>
      <form class="row" onSubmit={openJob}>
        <label>
          State{' '}
          <select
            value={state}
            onChange={({ currentTarget }) => goTo('jobs', { state: currentTarget.value })}
          >
            {JOB_STATES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label>
          Id <input name="id" placeholder="42xlt-ak8" />
        </label>
        <button type="submit">Open</button>
        <button type="button" onClick={() => setLooks(looks + 1)}>
          Look again
        </button>
      </form>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {page === undefined ? null : page.jobs.length === 0 ? (
        <p class="empty">No job is {state}.</p>
      ) : state === 'dead' ? (
        <DeadLetters jobs={page.jobs} onChanged={() => setLooks(looks + 1)} />
      ) : (
        <JobTable jobs={page.jobs} />
      )}
      {page?.next === undefined ? null : (
        <p>
          <button type="button" onClick={() => goTo('jobs', { state, after: String(page.next) })}>
            Next page
          </button>
        </p>
      )}
    </>
  );
}

function openJob(event: SubmitEvent): void {
  event.preventDefault();
  const id = new FormData(event.currentTarget as HTMLFormElement).get('id');
  if (typeof id === 'string' && id !== '') goTo(`jobs/${id.trim()}`);
}

interface DeadLettersProps {
  readonly jobs: readonly JobRow[];
  readonly onChanged: () => void;
}

function DeadLetters({ jobs, onChanged }: DeadLettersProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState('');
  const choose = (id: string, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const change = (verb: 'redrive' | 'purge'): void => {
    const isSure = verb === 'redrive' || confirm(`Delete ${chosen.size} dead letters for good?`);
    if (!isSure) return;
    call('POST', `/api/dead-letters/${verb}`, { ids: [...chosen] }).then(onChanged, (error: Error) =>
      setProblem(error.message),
    );
  };
  return (
    <>
      <div class="row">
        <button type="button" onClick={() => setChosen(new Set(jobs.map(({ id }) => id)))}>
          Choose all {jobs.length}
        </button>
        <button type="button" class="main" disabled={chosen.size === 0} onClick={() => change('redrive')}>
          Queue {chosen.size} again
        </button>
        <button type="button" disabled={chosen.size === 0} onClick={() => change('purge')}>
          Delete {chosen.size}
        </button>
      </div>
      {problem === '' ? null : <p class="error">{problem}</p>}
      <JobTable jobs={jobs} chosen={chosen} onChoose={choose} />
    </>
  );
}
