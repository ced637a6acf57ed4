import type { RunnerUse, WorkerView } from '@troupe/jobs';
import { stateText } from './job-text.js';
import { textTable } from './text-table.js';

/** Workers as lines, the head first. */
export function workerTable(workers: readonly WorkerView[]): string[] {
  const head = ['WORKER', 'STATE', 'RUNNING', 'OVERRUN', 'CREDIT', 'CPU', 'LAG'];
  const rows = workers.map(rowOf);
  if (workers.some(({ labels = [] }) => labels.length > 0)) {
    head.push('LABELS');
    for (const [index, row] of rows.entries()) row.push((workers[index]?.labels ?? []).join(' '));
  }
  if (workers.some(({ runners = [] }) => runners.length > 0)) {
    head.push('RUNNERS');
    for (const [index, row] of rows.entries()) row.push(runnersText(workers[index]?.runners ?? []));
  }
  return textTable(head, rows);
}

/** `w2` before `w10`: the rows of one look are those of the next. */
export function workersByName(workers: readonly WorkerView[]): WorkerView[] {
  return [...workers].sort((one, other) => one.worker.localeCompare(other.worker, 'en', { numeric: true }));
}

function rowOf(worker: WorkerView): string[] {
  const { liveness, quiet, blockedMs, running, overrun, slots, credit, cpu, lagMs } = worker;
  return [
    worker.worker,
    liveness === 'alive' && quiet === true ? 'quiet' : stateText(liveness, blockedMs),
    `${running}/${slots}`,
    String(overrun),
    String(credit),
    `${Math.round(cpu * 100)}%`,
    `${Math.round(lagMs)} ms`,
  ];
}

/** `llm 1/2, 3 wait`: of two instances one is in use. */
function runnersText(runners: readonly RunnerUse[]): string {
  return runners
    .map(({ runner, held, size, loading, waiting }) => {
      const notes = [loading > 0 ? `, ${loading} load` : '', waiting > 0 ? `, ${waiting} wait` : ''];
      return `${runner} ${held}/${size}${notes.join('')}`;
    })
    .join('; ');
}
