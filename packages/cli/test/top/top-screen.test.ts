import type { ExecDepth, JobView, LeaderOverview, WorkerView } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LookHistory } from '#src/top/look-history.js';
import { renderLine } from '#src/top/screen-line.js';
import { sparkline } from '#src/top/sparkline.js';
import { drawTop, type ScreenSize, type TopFigures, textMoves } from '#src/top/top-screen.js';
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

function depth(exec: string, more: Partial<ExecDepth> = {}): ExecDepth {
  return { exec, queued: 3, running: 1, oldestMs: 0, queuedByPriority: {}, ...more };
}

function figures(more: Partial<LeaderOverview> = {}, others: Partial<TopFigures> = {}): TopFigures {
  const history = new LookHistory();
  history.add(overview(more), 0);
  return {
    leader: 'here:1',
    looks: history.all,
    awayMs: undefined,
    jobs: [],
    hasMoreJobs: false,
    jobsProblem: undefined,
    jobLines: [],
    ...others,
  };
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
  const execs = Array.from({ length: 30 }, (_, i) => depth(`exec.${i}`));
  const shown = figures({ workers, execs }, { jobs, jobLines: ['x'.repeat(300)], awayMs: 3_000 });
  for (const view of ['overview', 'execs', 'workers', 'jobs', 'job', 'storage', 'help'] as const)
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

top('a screen with room has figures, problems, execs and workers; a small one keeps the last keys', () => {
  const shown = figures({ execs: [depth('mail.send', { oldestMs: 65_000, running: 0 })] });
  const large = text(shown, FIRST_STATE, SIZE).join('\n');
  assert.match(large, /\naccepted\/s +0\.0\/s +▁\n/);
  assert.match(large, /\nEXEC +QUEUED +RUNNING +OLDEST\nmail\.send +3 +0 +65 s\n/);
  assert.match(large, /\nw1 +alive +1\/4/);
  const small = text(shown, FIRST_STATE, { columns: 40, rows: 15 });
  assert.match(small.join('\n'), '! mail.send: jobs wait for 65 s and none\n  runs; e and enter show why');
  assert.match(small.join('\n'), /\nw1 +alive/);
  assert.match(small.at(-1) ?? '', /^o overview {2}e execs {2}\? keys {2}q quit$/);
});

top('an exec is stuck when its jobs wait long, none runs, and there are workers', () => {
  const problemsOf = (more: Partial<LeaderOverview>): string =>
    text(figures(more), FIRST_STATE, SIZE)
      .filter((one) => one.startsWith('!'))
      .join('\n');
  const stuck = depth('mail.send', { oldestMs: 65_000, running: 0 });
  assert.match(problemsOf({ execs: [stuck] }), /^! mail\.send: jobs wait/);
  assert.is(problemsOf({ execs: [{ ...stuck, running: 1 }] }), '');
  assert.is(problemsOf({ execs: [{ ...stuck, oldestMs: 500 }] }), '');
  const unserved = { ...stuck, running: 1, unserved: 2 };
  assert.match(problemsOf({ execs: [unserved] }), /^! mail\.send: no worker may take 2 of its jobs; /);
  assert.is(problemsOf({ execs: [{ ...unserved, oldestMs: 500 }] }), '');
  assert.not.match(problemsOf({ execs: [stuck], workers: [] }), 'mail.send');
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
  assert.match(shown, '! 3 due jobs wait and no worker is alive; start one: troupe worker <module>');
  assert.match(shown, '! w1: its event loop is blocked for 12 s');
  assert.match(text(figures(), FIRST_STATE, SIZE).join('\n'), 'no problems');
  const later = { workers: [], delayed: 3 };
  assert.match(text(figures(later), FIRST_STATE, SIZE).join('\n'), 'no problems', 'nothing is due');
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
  assert.equal([afterKey(state, 'home', rows).row, afterKey(state, 'pagedown', rows).row], [0, 2]);
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

top('an exec opens its waiting jobs and a worker those it runs; j has all jobs again', () => {
  const names = { count: 2, jobs: [], names: ['mail.send', 'math.add'] };
  const execs = afterKey(afterKey(FIRST_STATE, 'e', NO_ROWS), 'down', names);
  const opened = afterKey(execs, 'return', names);
  assert.equal([opened.view, opened.jobState, opened.of], ['jobs', 'queued', { exec: 'math.add' }]);
  assert.match(text(figures(), opened, SIZE).join('\n'), 'no job of math.add is queued');
  assert.equal(
    [afterKey(opened, 'escape', NO_ROWS).view, afterKey(opened, 'escape', NO_ROWS).row],
    ['execs', 1],
  );
  assert.equal(afterKey(opened, 'j', NO_ROWS).of, {});
  const workers = afterKey(FIRST_STATE, 'w', NO_ROWS);
  const running = afterKey(workers, 'return', { count: 1, jobs: [], names: ['w1'] });
  assert.equal([running.view, running.jobState, running.of], ['jobs', 'running', { worker: 'w1' }]);
  assert.is(afterKey(workers, 'return', NO_ROWS), workers);
});

top('a text that is wider than the screen goes on below it', () => {
  const shown = figures({}, { jobLines: [`failure    ${'word '.repeat(12)}`] });
  const lines = text(shown, { ...FIRST_STATE, view: 'job' }, { columns: 40, rows: 15 });
  assert.equal(lines.slice(4, 6), [
    'failure    word word word word word word',
    `${' '.repeat(11)}word word word word word word`,
  ]);
});

top('a text that is longer than the screen moves by its keys, from its first line to its last', () => {
  const jobLines = Array.from({ length: 40 }, (_, i) => `log        line ${i}`);
  const shown = figures({}, { jobLines });
  const size = { columns: 40, rows: 15 };
  const rows = { count: textMoves(shown, { ...FIRST_STATE, view: 'job' }, size) ?? 0, jobs: [] };
  let state: TopState = { ...FIRST_STATE, view: 'job' };
  assert.match(text(shown, state, size).join('\n'), /^job {2}↑ ↓ move, \d+ below/m);
  state = afterKey(state, 'down', rows);
  assert.is(text(shown, state, size)[4], 'log        line 1');
  state = afterKey(afterKey(state, 'end', rows), 'down', rows);
  assert.is(text(shown, state, size).at(-2), 'log        line 39');
  assert.is(text(shown, afterKey(state, 'up', rows), size).at(-2), 'log        line 38');
  assert.is(textMoves(shown, FIRST_STATE, size), undefined);
});

top('jobs that could not be read are not called none', () => {
  const shown = figures({}, { jobsProblem: 'not done within 2,000 ms' });
  const lines = text(shown, { ...FIRST_STATE, view: 'jobs' }, SIZE).join('\n');
  assert.match(lines, 'not done within 2,000 ms');
  assert.not.match(lines, 'no job');
});

top.run();
