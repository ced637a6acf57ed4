import { Command } from '../parts/command.js';
import { ahead, count, span, time } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useFollowed } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';

interface ScheduleRow {
  readonly name: string;
  readonly exec: string;
  readonly rule: {
    readonly cron?: string;
    readonly zone?: string;
    readonly everyMs?: number;
    readonly overlap: string;
  };
  readonly paused: boolean;
  readonly next: readonly number[];
  readonly lastAt: number;
  readonly lastJob?: string | undefined;
  readonly runs: number;
  readonly skipped: number;
}

interface Answer {
  readonly schedules: readonly ScheduleRow[];
  readonly next?: string | undefined;
}

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Schedules with their next ten times. */
export function SchedulesView({ query }: { readonly query: URLSearchParams }) {
  const after = query.get('after') ?? '';
  const path = `/api/schedules?max=100${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
  const { value: answer, problem, change } = useFollowed<Answer>(path);
  const act = (method: 'POST' | 'DELETE', name: string, verb: string): void => {
    if (method === 'DELETE' && !confirm(`Remove the schedule ${name}?`)) return;
    change(method, `/api/schedules/${encodeURIComponent(name)}${verb}`);
  };
  return (
    <>
      <h1>Schedules</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {answer === undefined ? (
        problem === '' && <Waiting />
      ) : answer.schedules.length === 0 ? (
        <div class="empty">
          <p>No schedule yet. Add one that runs a job every night at three:</p>
          <Command text="npx troupe schedule add nightly report.make '{}' --cron '0 3 * * *'" />
        </div>
      ) : (
        <>
          <p class="quiet">Times are those of this browser: {ZONE}.</p>
          <ScheduleTable schedules={answer.schedules} act={act} />
        </>
      )}
      {answer?.next === undefined ? null : (
        <a href={`#/schedules?after=${encodeURIComponent(answer.next)}`}>Next page</a>
      )}
    </>
  );
}

interface TableProps {
  readonly schedules: readonly ScheduleRow[];
  readonly act: (method: 'POST' | 'DELETE', name: string, verb: string) => void;
}

function ScheduleTable({ schedules, act }: TableProps) {
  return (
    <Table
      label="Schedules"
      head={['Name', 'Job', 'When', 'Next', 'Last', 'Runs', 'Skipped', 'Change']}
      numbers={['Runs', 'Skipped']}
    >
      {schedules.map((one) => (
        <tr key={one.name}>
          <td>{one.name}</td>
          <td class="name">{one.exec}</td>
          <td class="whole">
            <code>{ruleText(one)}</code>{' '}
            <small>{one.rule.cron === undefined ? '' : (one.rule.zone ?? 'UTC')}</small>
          </td>
          <td class="whole">
            {one.paused ? <span class="state cancelled">paused</span> : <Times times={one.next} />}
          </td>
          <td>
            {one.lastJob === undefined ? '–' : <a href={`#/jobs/${one.lastJob}`}>{time(one.lastAt)}</a>}
          </td>
          <td>{count(one.runs)}</td>
          <td>{count(one.skipped)}</td>
          <td class="actions">
            <button type="button" onClick={() => act('POST', one.name, '/run')}>
              Run now
            </button>
            <button type="button" onClick={() => act('POST', one.name, one.paused ? '/resume' : '/pause')}>
              {one.paused ? 'Resume' : 'Pause'}
            </button>
            <button type="button" onClick={() => act('DELETE', one.name, '')}>
              Remove
            </button>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Times({ times }: { readonly times: readonly number[] }) {
  const [first, ...others] = times;
  if (first === undefined) return <>never</>;
  return (
    <details>
      <summary>
        {ahead(first)} <small>{dayTime(first)}</small>
      </summary>
      {others.map((at) => (
        <div key={at}>{dayTime(at)}</div>
      ))}
    </details>
  );
}

/** `Fri 20 Nov, 03:00`, in the time zone of the browser; with the year where it is another, with seconds where there are some. */
function dayTime(ms: number): string {
  const at = new Date(ms);
  return at.toLocaleString('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: ms % 60_000 === 0 ? undefined : '2-digit',
  });
}

function ruleText({ rule }: ScheduleRow): string {
  return rule.cron === undefined ? `every ${span(rule.everyMs ?? 0)}` : rule.cron;
}
