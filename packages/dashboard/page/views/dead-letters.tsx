import { useState } from 'preact/hooks';
import { call } from '../api.js';
import { Command } from '../parts/command.js';
import { count, time } from '../parts/format.js';
import { Table } from '../parts/table.js';
import { useFollowed } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';

interface Group {
  readonly fingerprint: string;
  readonly exec: string;
  readonly name: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Dead letters by their error. A group is put back after a dry run that names the number. */
export function DeadLettersView() {
  const { value, problem } = useFollowed<{ readonly groups: readonly Group[] }>('/api/dead-letters/groups');
  const [report, setReport] = useState('');
  const redrive = async ({ fingerprint, exec }: Group): Promise<void> => {
    const filter = { fingerprint, exec };
    try {
      const { matched } = await where({ filter, dryRun: true });
      if (matched === 0) return setReport('No dead letter fits any more');
      if (!confirm(`Queue ${count(matched)} dead letter${matched === 1 ? '' : 's'} of ${exec} again?`))
        return;
      const { redriven } = await where({ filter, dryRun: false, max: matched });
      setReport(`${count(redriven)} of ${count(matched)} queued again`);
    } catch (error) {
      setReport(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <h1>Dead letters</h1>
      {problem === '' ? null : <p class="error">{problem}</p>}
      <p role="status" class="quiet">
        {report}
      </p>
      {value === undefined ? (
        problem === '' && <Waiting />
      ) : value.groups.length === 0 ? (
        <div class="empty">
          <p>
            No dead letters. A job comes here when its attempts are used up, with all its errors; it can be
            queued again when its handler is mended, or removed.
          </p>
          <Command text="npx troupe dlq groups" />
        </div>
      ) : (
        <Table
          label="Dead letters"
          head={['Job', 'Count', 'Error', 'First', 'Last', 'Change']}
          numbers={['Count']}
        >
          {value.groups.map((group) => (
            <tr key={`${group.exec} ${group.fingerprint}`}>
              <td>{group.exec}</td>
              <td>{count(group.count)}</td>
              <td class="wrap">
                <a href={`#/jobs?state=dead&fingerprint=${encodeURIComponent(group.fingerprint)}`}>
                  {group.name}: {group.message}
                </a>
              </td>
              <td>{time(group.firstAt)}</td>
              <td>{time(group.lastAt)}</td>
              <td class="actions">
                <button type="button" onClick={() => void redrive(group)}>
                  Queue all again
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function where(body: object): Promise<{ readonly matched: number; readonly redriven: number }> {
  return call('POST', '/api/dead-letters/redrive-where', body);
}
