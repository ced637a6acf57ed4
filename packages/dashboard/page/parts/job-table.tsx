import type { JobRow } from '../api.js';
import { time } from './format.js';

interface Props {
  readonly jobs: readonly JobRow[];
  /** Chosen ids; absent where rows cannot be chosen. */
  readonly chosen?: ReadonlySet<string> | undefined;
  readonly onChoose?: ((id: string, isChosen: boolean) => void) | undefined;
}

export function JobTable({ jobs, chosen, onChoose }: Props) {
  return (
    <section class="scroll" tabIndex={0} aria-label="Jobs">
      <table>
        <thead>
          <tr>
            {chosen === undefined ? null : <th scope="col">Choose</th>}
            <th scope="col">Id</th>
            <th scope="col">Job</th>
            <th scope="col">State</th>
            <th scope="col">Attempt</th>
            <th scope="col">Submitted</th>
            <th scope="col">Worker</th>
            <th scope="col">Last error</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              {chosen === undefined ? null : (
                <td>
                  <input
                    type="checkbox"
                    aria-label={`choose ${job.id}`}
                    checked={chosen.has(job.id)}
                    onChange={({ currentTarget }) => onChoose?.(job.id, currentTarget.checked)}
                  />
                </td>
              )}
              <td>
                <a href={`#/jobs/${job.id}`}>{job.id}</a>
              </td>
              <td>{job.exec}</td>
              <td class={`state ${job.state}`}>{job.state}</td>
              <td>{job.attempt}</td>
              <td>{time(job.submittedAt)}</td>
              <td>{job.worker}</td>
              <td>{job.failure?.message.slice(0, 80)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
