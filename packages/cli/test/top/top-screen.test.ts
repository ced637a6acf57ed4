import type { JobView, LeaderOverview, WorkerView } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LookHistory } from '#src/top/look-history.js';
import { renderLine } from '#src/top/screen-line.js';
import { sparkline } from '#src/top/sparkline.js';
import { drawTop, type ScreenSize, type TopFigures } from '#src/top/top-screen.js';
import { afterKey, FIRST_STATE, type TopState } from '#src/top/top-state.js';

const top = suite('the screen of top');

const worker = (name: string, more: Partial<WorkerView> = {}): WorkerView => ({
  worker: name,
  liveness: 'alive',
  blockedMs: 0,
  running: 1,
  overrun: 0,
  credit: 3,
  slots: 4,
  cpu: 0.25,
  lagMs: 1,
  ...more,
});

function overview(more: Partial<LeaderOverview> = {}): LeaderOverview {
  const use = { used: 1, max: 100 };
  const names = [
    'jobs',
    'jobBytes',
    'dead',
    'deadBytes',
    'keys',
    'producers',
    'policies',
    'results',
    'resultBytes',
    'spillBytes',
    'schedules',
  ];
  return {
    tag: 'abcde',
    lsn: 42,
    counts: { queued: 3, running: 1, done: 5, dead: 0, cancelled: 0 },
    accepted: 9,
    dropped: 0,
    delayed: 0,
    liveBytes: 0,
    keys: 0,
    diskLow: false,
    tables: Object.fromEntries(names.map((name) => [name, use])) as LeaderOverview['tables'],
    nearQuotas: [],
    refusing: [],
    log: { bytes: 0, replayMs: 1, cutBytes: 0, failedSnapshots: 0 },
    workers: [worker('w1')],
    ...more,
  };
}

function figures(more: Partial<LeaderOverview> = {}, others: Partial<TopFigures> = {}): TopFigures {
  const history = new LookHistory();
  history.add(overview(more), 0);
  return { leader: 'here:1', looks: history.all, awayMs: undefined, jobs: [], jobLines: [], ...others };
}

function text(shown: TopFigures, state: TopState, size: ScreenSize): string[] {
  return drawTop(shown, state, size).map((line) => renderLine(line, size.columns, { isColoured: false }));
}

const SIZE = { columns: 100, rows: 30 };
const NO_ROWS = { count: 0, jobs: [] };

top('a sparkline ends with the newest value, fills its width, and shows every value above 0', () => {
  assert.is(sparkline([], 3), '   ');
  assert.is(sparkline([0, 1, 1_000], 3), '▁▂█');
  assert.is(sparkline([5, 5], 4), '  ██');
  assert.is(sparkline([1, 2, 3, 4], 2), '▇█');
  assert.is(sparkline([1], 0), '');
});

top('rates are differences of two looks over their time, and never negative', () => {
  const history = new LookHistory();
  history.add(overview(), 1_000);
  const counts = { queued: 3, running: 1, done: 15, dead: 2, cancelled: 0 };
  const look = history.add(overview({ accepted: 21, counts }), 3_000);
  assert.equal([look.acceptedPerS, look.endedPerS, look.deadPerS], [6, 6, 1]);
  assert.is(history.add(overview(), 4_000).acceptedPerS, 0);
});

top('at every size each view has exactly as many rows as the terminal, none wider than it', () => {
  const jobs = Array.from({ length: 50 }, (_, i) => ({
    id: `abcde-${i}`,
    view: {
      job: i,
      exec: 'a.very.long.exec.name',
      attempt: 1,
      submittedAt: 0,
      worker: 'w1',
      reason: '',
      failure: undefined,
    } as JobView,
  }));
  const workers = Array.from({ length: 40 }, (_, i) => worker(`worker-${i}`));
  const shown = figures({ workers }, { jobs, jobLines: ['x'.repeat(300)], awayMs: 3_000 });
  for (const view of ['overview', 'workers', 'jobs', 'job', 'storage', 'help'] as const)
    for (const size of [
      SIZE,
      { columns: 40, rows: 10 },
      { columns: 20, rows: 3 },
      { columns: 200, rows: 60 },
    ]) {
      const lines = text(shown, { ...FIRST_STATE, view, row: 30 }, size);
      assert.is(lines.length, size.rows, view);
      for (const line of lines) assert.ok([...line].length <= size.columns, `${view}: ${line}`);
    }
});

top('problems are listed with what to do', () => {
  const shown = text(
    figures({
      workers: [worker('w1', { liveness: 'blocked', blockedMs: 12_000 })],
      refusing: [{ code: 'ERR_DISK_LOW', problem: 'the disk is nearly full' }],
    }),
    FIRST_STATE,
    SIZE,
  ).join('\n');
  assert.match(shown, /problems \(3\)/);
  assert.match(shown, '! submits are refused: the disk is nearly full (ERR_DISK_LOW)');
  assert.match(shown, '! 3 jobs wait and no worker is alive; start one: troupe worker <module>');
  assert.match(shown, '! w1: its event loop is blocked for 12 s');
  assert.match(text(figures(), FIRST_STATE, SIZE).join('\n'), 'no problems');
});

top('the name of a worker cannot move the cursor', () => {
  const lines = drawTop(figures({ workers: [worker('evil\u001b[2J')] }), FIRST_STATE, SIZE);
  const drawn = lines.map((line) => renderLine(line, 100, { isColoured: true })).join('\n');
  assert.not.match(drawn, '\u001b[2J');
  assert.match(drawn, 'evil\\u001b');
});

top('before the first look it says that there is no leader, afterwards that it is away', () => {
  const none = { ...figures(), looks: [], awayMs: 1_000 };
  assert.match(text(none, FIRST_STATE, SIZE).join('\n'), 'no leader at here:1 yet; start one: troupe leader');
  const away = text(figures({}, { awayMs: 7_000 }), FIRST_STATE, SIZE);
  assert.match(away[0] ?? '', 'the leader is away for 7 s');
});

top('keys open views, move in lists, drill down and come back', () => {
  const rows = { count: 3, jobs: [7, 8, 9] };
  let state = afterKey(FIRST_STATE, 'd', NO_ROWS);
  assert.equal([state.view, state.jobState], ['jobs', 'dead']);
  state = afterKey(afterKey(state, 'down', rows), 'down', rows);
  assert.is(afterKey(state, 'down', rows).row, 2);
  state = afterKey(afterKey(state, 'up', rows), 'return', rows);
  assert.equal([state.view, state.job], ['job', 8]);
  state = afterKey(state, 'escape', NO_ROWS);
  assert.equal([state.view, state.row], ['jobs', 1]);
  assert.is(afterKey(state, 'tab', rows).jobState, 'done');
  state = afterKey(afterKey(state, 'escape', NO_ROWS), 'escape', NO_ROWS);
  assert.is(state.view, 'overview');
  assert.is(afterKey(state, 'space', NO_ROWS).isFrozen, true);
  assert.is(afterKey(state, 'x', NO_ROWS), state);
  assert.is(afterKey(state, 'q', NO_ROWS).isOver, true);
});

top.run();
