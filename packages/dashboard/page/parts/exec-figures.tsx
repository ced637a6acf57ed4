import type { ExecDepth } from '../api.js';
import { count, span, waiting } from './format.js';
import { Table } from './table.js';

export interface ExecRow extends ExecDepth {
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
        'By priority',
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
          <td>{byPriority(one)}</td>
          <td>{count(one.running)}</td>
          <td>{waiting(one.oldestMs)}</td>
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

/** `9: 3 · 5: 1,200`, the highest first. */
function byPriority({ queuedByPriority }: ExecDepth): string {
  const all = Object.entries(queuedByPriority).sort(([a], [b]) => Number(b) - Number(a));
  return all.length === 0 ? '–' : all.map(([priority, jobs]) => `${priority}: ${count(jobs)}`).join(' · ');
}
