import { Command } from '../parts/command.js';
import { time } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useLook } from '../parts/use-look.js';

interface Act {
  readonly no: number;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly target: string;
  readonly detail: string;
}

const LOOK_MS = 5_000;
const JOB_ID = /^[0-9a-z]{5}-[0-9a-z]+$/;

/** Who did what to what, the latest first. */
export function AuditView() {
  const { value, problem } = useLook<{ readonly entries: readonly Act[] }>('/api/audit?max=200', LOOK_MS);
  return (
    <>
      <h1>Audit</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {value === undefined ? null : value.entries.length === 0 ? (
        <div class="empty">
          <p>
            Nothing was changed yet. Cancels, redrives, schedules, pauses and limits stand here, with the
            client of each:
          </p>
          <Command text="npx troupe queue pause mail.send" />
        </div>
      ) : (
        <Table label="Audit" head={['At', 'By', 'Act', 'Target', 'Detail', 'No']} numbers={['No']}>
          {[...value.entries].reverse().map((act) => (
            <tr key={act.no}>
              <td>{time(act.at)}</td>
              <td>{act.by}</td>
              <td>{act.action}</td>
              <td>
                {JOB_ID.test(act.target) ? <a href={`#/jobs/${act.target}`}>{act.target}</a> : act.target}
              </td>
              <td class="wrap">{act.detail || '–'}</td>
              <td>{act.no}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
