import type { JobRow } from '../api.js';
import { time } from './format.js';
import { Table } from './table.js';

const ERROR_CHARS = 120;

interface Props {
  readonly jobs: readonly JobRow[];
  /** Chosen ids; absent where rows cannot be chosen. */
  readonly chosen?: ReadonlySet<string> | undefined;
  readonly onChoose?: ((id: string, isChosen: boolean) => void) | undefined;
}

export function JobTable({ jobs, chosen, onChoose }: Props) {
  return (
    <Table
      label="Jobs"
      head={['Id', 'Job', 'State', 'Attempt', 'Submitted', 'Worker', 'Last error']}
      numbers={['Attempt']}
    >
      {jobs.map((job) => (
        <tr key={job.id}>
          <td>
            {chosen === undefined ? null : (
              <input
                type="checkbox"
                aria-label={`choose ${job.id}`}
                checked={chosen.has(job.id)}
                onChange={({ currentTarget }) => onChoose?.(job.id, currentTarget.checked)}
              />
            )}
            <a href={`#/jobs/${job.id}`}>{job.id}</a>
          </td>
          <td class="name">{job.exec}</td>
          <td class={`state ${job.state}`}>{job.state}</td>
          <td>{job.attempt}</td>
          <td>{time(job.submittedAt)}</td>
          <td class={job.worker === '' ? '' : 'name'}>{job.worker || '–'}</td>
          <td class={job.failure === undefined ? '' : 'wrap'}>{errorText(job)}</td>
        </tr>
      ))}
    </Table>
  );
}

function errorText({ failure }: JobRow): string {
  if (failure === undefined) return '–';
  const { message } = failure;
  return message.length > ERROR_CHARS ? `${message.slice(0, ERROR_CHARS)} …` : message;
}
