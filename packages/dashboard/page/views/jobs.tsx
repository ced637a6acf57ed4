import { useState } from 'preact/hooks';
import { JOB_STATES, type JobRow } from '../api.js';
import { Command, quoted } from '../parts/command.js';
import { JobTable } from '../parts/job-table.js';
import { useLook } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';
import { goTo, type Route } from '../route.js';
import { ChosenJobs } from './chosen-jobs.js';

interface Page {
  readonly jobs: readonly JobRow[];
  readonly next?: number | undefined;
}

const PAGE_ROWS = 50;
const FIELDS = [
  ['exec', 'Job', 'mail.send', '--exec'],
  ['key', 'Key', '', '--idempotency-key'],
  ['orderKey', 'Order key', '', '--order-key'],
  ['tag', 'Tag', '', '--tag'],
  ['tenant', 'Tenant', '', '--tenant'],
  ['client', 'Client', '', '--client'],
  ['error', 'Error', 'text of a dead letter', '--error'],
] as const;
const TIMES = [
  ['since', 'Since'],
  ['until', 'Until'],
] as const;
/** Without fields of the form. */
const KEPT = ['state', 'fingerprint'] as const;
const CHANGEABLE = new Set(['queued', 'running', 'dead']);

/** Jobs by filters that stand in the address, page by page; those of one state can be chosen and changed. */
export function JobsView({ query }: Route) {
  const filters = filtersOf(query);
  const { state = '' } = filters;
  const after = query.get('after');
  const search = new URLSearchParams({
    ...filters,
    max: String(PAGE_ROWS),
    ...(after === null ? {} : { after }),
  });
  const [report, setReport] = useState('');
  const { value: page, problem, again } = useLook<Page>(`/api/search?${search}`);
  return (
    <>
      <h1>Jobs</h1>
      <SearchForm key={query.toString()} filters={filters} again={again} />
      {problem === '' ? null : <p class="error">{problem}</p>}
      <p role="status" class="quiet">
        {report}
      </p>
      {page === undefined ? (
        problem === '' && <Waiting />
      ) : page.jobs.length === 0 ? (
        <Empty isFiltered={Object.keys(filters).length > 0} />
      ) : CHANGEABLE.has(state) ? (
        <ChosenJobs
          key={page.jobs.map(({ id }) => id).join()}
          jobs={page.jobs}
          filter={apiFilter(filters)}
          onChanged={(text) => {
            setReport(text);
            again();
          }}
        />
      ) : (
        <JobTable jobs={page.jobs} />
      )}
      <div class="row">
        {after === null ? null : (
          <button type="button" onClick={() => goTo('jobs', filters)}>
            First page
          </button>
        )}
        {page?.next === undefined ? null : (
          <button type="button" onClick={() => goTo('jobs', { ...filters, after: String(page.next) })}>
            Next page
          </button>
        )}
      </div>
      <h2>In a terminal</h2>
      <Command text={commandOf(filters)} />
    </>
  );
}

interface FormProps {
  readonly filters: Readonly<Record<string, string>>;
  readonly again: () => void;
}

function SearchForm({ filters, again }: FormProps) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const given = (name: string): string => String(form.get(name) ?? '').trim();
    const id = given('id');
    if (id !== '') return goTo(`jobs/${encodeURIComponent(id)}`);
    const kept = KEPT.map((name) => [name, filters[name] ?? ''] as const);
    const fields = FIELDS.map(([name]) => [name, given(name)] as const);
    const times = TIMES.map(
      ([name]) => [name, given(name) === '' ? '' : String(Date.parse(given(name)))] as const,
    );
    goTo('jobs', Object.fromEntries([...kept, ...fields, ...times].filter(([, value]) => value !== '')));
  };
  return (
    <form class="row search" onSubmit={submit}>
      <label>
        State
        <select
          value={filters['state'] ?? ''}
          onChange={({ currentTarget: { value } }) => {
            const { state: _, ...others } = filters;
            goTo('jobs', value === '' ? others : { ...others, state: value });
          }}
        >
          <option value="">any</option>
          {JOB_STATES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <Field name="exec" label="Job" hint="mail.send" filters={filters} />
      <label>
        Id
        <input name="id" placeholder="42xlt-ak8" />
      </label>
      <span class="actions">
        <button type="submit" class="main">
          Search
        </button>
        <button type="button" onClick={() => goTo('jobs')}>
          Clear
        </button>
        <button type="button" onClick={again}>
          Refresh
        </button>
      </span>
      <details open={isWide() || isMore(filters)}>
        <summary>More filters</summary>
        <div class="filters">
          {FIELDS.slice(1).map(([name, label, hint]) => (
            <Field key={name} name={name} label={label} hint={hint} filters={filters} />
          ))}
          {TIMES.map(([name, label]) => (
            <label key={name}>
              {label}
              <input name={name} type="datetime-local" defaultValue={localTime(filters[name])} />
            </label>
          ))}
        </div>
      </details>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly filters: Readonly<Record<string, string>>;
}

function Field({ name, label, hint, filters }: FieldProps) {
  return (
    <label>
      {label}
      <input name={name} defaultValue={filters[name] ?? ''} placeholder={hint} />
    </label>
  );
}

/** On a telephone the jobs stand below the filters. */
function isWide(): boolean {
  return innerWidth > 800;
}

/** A filter is set that is not always shown. */
function isMore(filters: Readonly<Record<string, string>>): boolean {
  return Object.keys(filters).some((name) => name !== 'state' && name !== 'exec');
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <div class="empty">
      <p>No job fits all of these. Jobs that ended long ago are dropped by their retention.</p>
    </div>
  ) : (
    <div class="empty">
      <p>No job yet. Submit one:</p>
      <Command text="npx troupe submit math.add '[1, 2]'" />
    </div>
  );
}

function filtersOf(query: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name, value]) => value !== '' && name !== 'after'));
}

function apiFilter(filters: Readonly<Record<string, string>>): Readonly<Record<string, string | number>> {
  const isTime = (name: string): boolean => TIMES.some(([one]) => one === name);
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, isTime(name) ? Number(value) : value]),
  );
}

/** As an input of the browser has it: the minute, in the time zone of its user. */
function localTime(ms: string | undefined): string {
  if (ms === undefined) return '';
  const at = new Date(Number(ms));
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The same search in a terminal. */
function commandOf(filters: Readonly<Record<string, string>>): string {
  const times = TIMES.map(([name]) => [
    `--${name}`,
    filters[name] && new Date(Number(filters[name])).toISOString(),
  ]);
  const texts = FIELDS.map(([name, , , option]) => [option, filters[name]]);
  const kept = KEPT.map((name) => [`--${name}`, filters[name]]);
  const words = [...kept, ...texts, ...times].filter(([, value]) => value !== undefined && value !== '');
  return ['npx troupe ls', ...words.map(([option, value]) => `${option} ${quoted(value ?? '')}`)].join(' ');
}
