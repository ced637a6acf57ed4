import { Command } from '../parts/command.js';
import { time } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useFollowed } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';
import { goTo, type Route } from '../route.js';

interface Act {
  readonly no: number;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly target: string;
  readonly detail: string;
}

const JOB_ID = /^[0-9a-z]{5}-[0-9a-z]+$/;
/** Acts on jobs: the names of schedules and queues may look like ids. */
const JOB_ACTS = new Set(['cancel', 'redrive', 'redrive-edited']);

const PAGE_ROWS = 100;

/** Who did what to what, the latest first; page by page to the earlier ones. */
export function AuditView({ query }: Route) {
  const before = Number(query.get('before') ?? '0');
  const after = before === 0 ? '' : `&after=${Math.max(0, before - 1 - PAGE_ROWS)}`;
  const { value, problem } = useFollowed<{ readonly entries: readonly Act[] }>(
    `/api/audit?max=${PAGE_ROWS}${after}`,
  );
  const entries = (value?.entries ?? []).filter(({ no }) => before === 0 || no < before);
  const [first] = entries;
  return (
    <>
      <h1>Audit</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {value === undefined ? (
        problem === '' && <Waiting />
      ) : entries.length === 0 ? (
        <div class="empty">
          <p>
            Nothing was changed yet. Cancels, redrives, schedules, pauses and limits stand here, with the
            client of each:
          </p>
          <Command text="npx troupe queue pause mail.send" />
        </div>
      ) : (
        <Table label="Audit" head={['At', 'By', 'Act', 'Target', 'Detail', 'No']} numbers={['No']}>
          {[...entries].reverse().map((act) => (
            <tr key={act.no}>
              <td>{time(act.at)}</td>
              <td>{act.by}</td>
              <td>{act.action}</td>
              <td class="name">
                {JOB_ACTS.has(act.action) && JOB_ID.test(act.target) ? (
                  <a href={`#/jobs/${act.target}`}>{act.target}</a>
                ) : (
                  act.target
                )}
              </td>
              <td class="wrap">{detailText(act.detail)}</td>
              <td>{act.no}</td>
            </tr>
          ))}
        </Table>
      )}
      <div class="row pages">
        {before === 0 ? null : (
          <button type="button" onClick={() => goTo('audit')}>
            Latest
          </button>
        )}
        {first === undefined || first.no === 1 || entries.length < PAGE_ROWS ? null : (
          <button type="button" onClick={() => goTo('audit', { before: String(first.no) })}>
            Earlier
          </button>
        )}
      </div>
    </>
  );
}

/** Fields as `cron: 0 3 * * * · zone: UTC`; other texts as they are. */
function detailText(detail: string): string {
  if (!detail.startsWith('{')) return detail || '–';
  try {
    const fields = Object.entries(JSON.parse(detail) as Readonly<Record<string, unknown>>);
    return fields
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' · ');
  } catch {
    return detail;
  }
}
