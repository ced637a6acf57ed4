import type { ExecDepth, LeaderOverview, WorkerView } from '@troupe/jobs';
import { timeText } from '../output/text/explanation-text.js';
import type { Look } from './look-history.js';

const LAG_MS_MAX = 200;
/** An exec whose jobs wait longer while none of them runs is stuck, not busy. */
const STUCK_MS = 30_000;
/** From this part of a table on it is worth a look. */
const FULL_FROM = 0.9;

/** The red list: what is wrong with a leader, each with what to do. */
export function leaderProblems({ overview, deadPerS }: Look): string[] {
  const { counts, delayed, workers, execs = [], refusing, nearQuotas, log, tables } = overview;
  const due = counts.queued - delayed;
  const alive = workers.filter(({ liveness }) => liveness === 'alive');
  return [
    ...refusing.map(({ code, problem }) => `submits are refused: ${problem} (${code})`),
    ...(due > 0 && alive.length === 0
      ? [`${due} due jobs wait and no worker is alive; start one: troupe worker <module>`]
      : []),
    ...(alive.length === 0 ? [] : execs.flatMap(stuckExec)),
    ...workers.flatMap(workerProblems),
    ...(deadPerS > 0 ? [`dead letters are rising, ${deadPerS.toFixed(1)} a second; see d`] : []),
    ...nearQuotas.map(
      ({ identity, table, used, max }) =>
        `${identity} has ${used} of its ${max} ${table}; see the leader's limits`,
    ),
    ...fullTables(tables),
    ...(log.failedSnapshots > 0
      ? [`${log.failedSnapshots} snapshots failed; see the log of the leader and its disk`]
      : []),
  ];
}

function stuckExec({ exec, queued, running, oldestMs, unserved = 0 }: ExecDepth): string[] {
  if (queued === 0 || oldestMs < STUCK_MS) return [];
  if (unserved > 0) return [`${exec}: no worker may take ${unserved} of its jobs; e and enter show why`];
  if (running > 0) return [];
  return [`${exec}: jobs wait for ${timeText(oldestMs)} and none runs; e and enter show why`];
}

function workerProblems({ worker, liveness, blockedMs, overrun, lagMs }: WorkerView): string[] {
  if (liveness === 'blocked')
    return [`${worker}: its event loop is blocked for ${Math.round(blockedMs / 1_000)} s; see its handlers`];
  if (liveness === 'gone') return [`${worker}: gone; its jobs wait for it until their grace is over`];
  const problems: string[] = [];
  if (overrun > 0) problems.push(`${worker}: ${overrun} handlers run although their attempt has ended`);
  if (lagMs > LAG_MS_MAX)
    problems.push(
      `${worker}: its event loop lags by ${Math.round(lagMs)} ms; give it fewer slots or threads`,
    );
  return problems;
}

function fullTables(tables: LeaderOverview['tables']): string[] {
  return Object.entries(tables)
    .filter(([table, { used, max }]) => max > 0 && used >= FULL_FROM * max && !table.startsWith('result'))
    .map(([table, { used, max }]) => `table ${table}: ${used} of ${max}; drain it or raise its limit`);
}
