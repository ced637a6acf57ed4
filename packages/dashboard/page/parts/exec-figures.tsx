import type { ExecDepth } from '../api.js';
import { count, perSecond, span, waiting } from './format.js';
import { Table } from './table.js';

export interface ExecRow extends ExecDepth {
  readonly acceptedPerSecond: number;
  readonly donePerSecond: number;
  readonly failedPerSecond: number;
  readonly waitMs: { readonly p50: number; readonly p99: number };
  readonly runMs: { readonly p50: number; readonly p99: number };
}

const NUMBERS = [
  'Queued',
  'Running',
  'Oldest',
  'Accepted/s',
  'Done/s',
  'Failed/s',
  'Wait p50 / p99',
  'Run p50 / p99',
];

/** Depth, age, rates and times of every exec. */
export function ExecFigures({ execs }: { readonly execs: readonly ExecRow[] }) {
  return (
    <Table label="Figures" head={['Job', 'By priority', ...NUMBERS]} numbers={NUMBERS}>
      {execs.map((one) => (
        <tr key={one.exec}>
          <td>
            <a href={`#/jobs?exec=${encodeURIComponent(one.exec)}`}>{one.exec}</a>
          </td>
          <td>{byPriority(one)}</td>
          <td>{count(one.queued)}</td>
          <td>{count(one.running)}</td>
          <td>{waiting(one.oldestMs)}</td>
          <td>{rate(one.acceptedPerSecond)}</td>
          <td>{rate(one.donePerSecond)}</td>
          <td>{rate(one.failedPerSecond)}</td>
          <td>{times(one.waitMs)}</td>
          <td>{times(one.runMs)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Of the last minute. */
function rate(value: number): string {
  return value === 0 ? '–' : perSecond(value);
}

/** `12 / 40 ms`, `900 ms / 3 s`; without an attempt lately there are none. */
function times({ p50, p99 }: ExecRow['waitMs']): string {
  if (p99 === 0) return '–';
  const [half = '', unit] = span(p50).split(' ');
  const most = span(p99);
  return `${most.endsWith(` ${unit}`) ? half : span(p50)} / ${most}`;
}

/** `P9: 3 · P4: 1,200`, the highest first. */
function byPriority({ queuedByPriority }: ExecDepth): string {
  const all = Object.entries(queuedByPriority).sort(([a], [b]) => Number(b) - Number(a));
  return all.length === 0 ? '–' : all.map(([priority, jobs]) => `P${priority}: ${count(jobs)}`).join(' · ');
}
