import { useState } from 'preact/hooks';
import { call, JOB_STATES, type JobRow } from '../api.js';
import { JobTable } from '../parts/job-table.js';
import { useLook } from '../parts/use-look.js';
import { goTo, type Route } from '../route.js';

interface Page {
  readonly jobs: readonly JobRow[];
  readonly next?: number | undefined;
}

const PAGE_ROWS = 50;
const FIELDS = [
  ['exec', 'Job', 'mail.send'],
  ['key', 'Key', ''],
  ['orderKey', 'Order key', ''],
  ['tag', 'Tag', ''],
  ['tenant', 'Tenant', ''],
  ['error', 'Error', 'text of a dead letter'],
] as const;

/** Jobs by filters that stand in the address, page by page; dead letters can be chosen and put back or deleted. */
export function JobsView({ query }: Route) {
  const state = query.get('state') ?? '';
  const search = new URLSearchParams([...query].filter(([, value]) => value !== ''));
  search.set('max', String(PAGE_ROWS));
  const { value: page, problem, again } = useLook<Page>(`/api/search?${search}`);
  const filtered = (): Record<string, string> =>
    Object.fromEntries([...query].filter(([name, value]) => value !== '' && name !== 'after'));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const id = String(form.get('id') ?? '').trim();
    if (id !== '') return goTo(`jobs/${id}`);
    const given = FIELDS.map(([name]) => [name, String(form.get(name) ?? '').trim()] as const);
    const { fingerprint } = filtered();
    goTo('jobs', {
      ...(state === '' ? {} : { state }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...Object.fromEntries(given.filter(([, value]) => value !== '')),
    });
  };
  return (
    <>
      <h1>Jobs</h1>
      <form class="row" onSubmit={submit} key={query.toString()}>
        <label>
          State{' '}
          <select
            value={state}
            onChange={({ currentTarget }) => goTo('jobs', { ...filtered(), state: currentTarget.value })}
          >
            <option value="">any</option>
            {JOB_STATES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        {FIELDS.map(([name, label, hint]) => (
          <label key={name}>
            {label} <input name={name} defaultValue={query.get(name) ?? ''} placeholder={hint} size={12} />
          </label>
        ))}
        <label>
          Id <input name="id" placeholder="42xlt-ak8" size={12} />
        </label>
        <button type="submit" class="main">
          Search
        </button>
        <button type="button" onClick={() => goTo('jobs')}>
          Clear
        </button>
        <button type="button" onClick={again}>
          Look again
        </button>
      </form>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {page === undefined ? null : page.jobs.length === 0 ? (
        <p class="empty">No job fits. Submit one: {"npx troupe submit math.add '[1, 2]'"}</p>
      ) : state === 'dead' ? (
        <DeadLetters key={page.jobs.map(({ id }) => id).join()} jobs={page.jobs} onChanged={again} />
      ) : (
        <JobTable jobs={page.jobs} />
      )}
      {page?.next === undefined ? null : (
        <p>
          <button type="button" onClick={() => goTo('jobs', { ...filtered(), after: String(page.next) })}>
            Next page
          </button>
        </p>
      )}
    </>
  );
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
