import { count, span } from './format.js';
import { Table } from './table.js';

export interface ExecRow {
  readonly exec: string;
  readonly queued: number;
  readonly running: number;
  readonly oldestMs: number;
  readonly acceptedPerSecond: number;
  readonly donePerSecond: number;
  readonly failedPerSecond: number;
  readonly waitMs: { readonly p50: number; readonly p99: number };
  readonly runMs: { readonly p50: number; readonly p99: number };
}

/** Depth, age, rates and times of every exec. */
export function ExecFigures({ execs }: { readonly execs: readonly ExecRow[] }) {
  return (
    <Table
      label="Figures"
      head={[
        'Job',
        'Queued',
        'Running',
        'Oldest',
        'Accepted/s',
        'Done/s',
        'Failed/s',
        'Wait p50/p99',
        'Run p50/p99',
      ]}
    >
      {execs.map((one) => (
        <tr key={one.exec}>
          <td>
            <a href={`#/jobs?exec=${encodeURIComponent(one.exec)}`}>{one.exec}</a>
          </td>
          <td>{count(one.queued)}</td>
          <td>{count(one.running)}</td>
          <td>{span(one.oldestMs)}</td>
          <td>{one.acceptedPerSecond.toFixed(1)}</td>
          <td>{one.donePerSecond.toFixed(1)}</td>
          <td>{one.failedPerSecond.toFixed(1)}</td>
          <td>
            {span(one.waitMs.p50)} / {span(one.waitMs.p99)}
          </td>
          <td>
            {span(one.runMs.p50)} / {span(one.runMs.p99)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
