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

/** Who did what to what, the latest first. */
export function AuditView() {
  const { value, problem } = useLook<{ readonly entries: readonly Act[] }>('/api/audit?max=200', LOOK_MS);
  return (
    <>
      <h1>Audit</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      {value === undefined ? null : value.entries.length === 0 ? (
        <p class="empty">
          Nobody has changed anything yet: cancels, redrives, schedules, pauses and limits stand here.
        </p>
      ) : (
        <Table label="Audit" head={['No', 'At', 'By', 'Act', 'Target', 'Detail']}>
          {[...value.entries].reverse().map((act) => (
            <tr key={act.no}>
              <td>{act.no}</td>
              <td>{time(act.at)}</td>
              <td>{act.by}</td>
              <td>{act.action}</td>
              <td>{act.target}</td>
              <td class="wrap">{act.detail}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
