import type { JobView } from '@troupe/jobs';

export type TopView = 'overview' | 'workers' | 'jobs' | 'job' | 'storage' | 'help';

export const JOB_STATES: readonly JobView['state'][] = ['running', 'queued', 'dead', 'done', 'cancelled'];

/** The part of the screen that keys decide. */
export interface TopState {
  readonly view: TopView;
  /** The views before, for Escape. */
  readonly back: readonly TopView[];
  readonly jobState: JobView['state'];
  /** The selected row of a list. */
  readonly row: number;
  /** The job of the view `job`. */
  readonly job: number | undefined;
  /** The figures stand still. */
  readonly isFrozen: boolean;
  readonly isOver: boolean;
}

export const FIRST_STATE: TopState = {
  view: 'overview',
  back: [],
  jobState: 'running',
  row: 0,
  job: undefined,
  isFrozen: false,
  isOver: false,
};

/** The rows of the list on the screen, for the keys that move in it. */
export interface ListedRows {
  readonly count: number;
  /** Their jobs, where they are jobs. */
  readonly jobs: readonly number[];
}

/** The state after a key, by the names that Node gives to keys. */
export function afterKey(state: TopState, key: string, rows: ListedRows): TopState {
  const last = Math.max(0, rows.count - 1);
  switch (key) {
    case 'q':
    case 'ctrl-c':
      return { ...state, isOver: true };
    case 'o':
      return opened(state, 'overview');
    case 'w':
      return opened(state, 'workers');
    case 's':
      return opened(state, 'storage');
    case 'h':
    case '?':
      return opened(state, 'help');
    case 'd':
      return { ...opened(state, 'jobs'), jobState: 'dead' };
    case 'j':
      return opened(state, 'jobs');
    case 'tab':
      return state.view === 'jobs' ? { ...state, jobState: nextJobState(state.jobState), row: 0 } : state;
    case 'up':
      return { ...state, row: Math.max(0, Math.min(state.row, last) - 1) };
    case 'down':
      return { ...state, row: Math.min(last, state.row + 1) };
    case 'return': {
      const job = state.view === 'jobs' ? rows.jobs[Math.min(state.row, last)] : undefined;
      return job === undefined ? state : { ...opened(state, 'job'), job };
    }
    case 'escape':
    case 'backspace':
      return { ...state, view: state.back.at(-1) ?? 'overview', back: state.back.slice(0, -1) };
    case 'space':
      return { ...state, isFrozen: !state.isFrozen };
    default:
      return state;
  }
}

function opened(state: TopState, view: TopView): TopState {
  if (state.view === view) return { ...state, row: 0 };
  // From a job back to its row: the row is kept.
  const row = view === 'job' ? state.row : 0;
  return { ...state, view, row, back: [...state.back, state.view].slice(-8) };
}

function nextJobState(state: JobView['state']): JobView['state'] {
  return JOB_STATES[(JOB_STATES.indexOf(state) + 1) % JOB_STATES.length] ?? 'running';
}
