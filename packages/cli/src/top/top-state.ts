import type { JobView } from '@troupe/jobs';

export type TopView = 'overview' | 'execs' | 'workers' | 'jobs' | 'job' | 'storage' | 'help';

export const JOB_STATES: readonly JobView['state'][] = ['running', 'queued', 'dead', 'done', 'cancelled'];

export interface JobsOf {
  readonly exec?: string;
  readonly worker?: string;
}

/** The part of the screen that keys decide. */
export interface TopState {
  readonly view: TopView;
  /** The views before with their rows, for Escape. */
  readonly back: readonly Pick<TopState, 'view' | 'row'>[];
  readonly jobState: JobView['state'];
  /** The jobs of the list: of one exec, of one worker, or all. */
  readonly of: JobsOf;
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
  of: {},
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
  /** Of execs or workers. */
  readonly names?: readonly string[];
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
    case 'e':
      return opened(state, 'execs');
    case 'w':
      return opened(state, 'workers');
    case 's':
      return opened(state, 'storage');
    case 'h':
    case '?':
      return opened(state, 'help');
    case 'd':
      return { ...opened(state, 'jobs'), jobState: 'dead', of: {} };
    case 'j':
      return { ...opened(state, 'jobs'), of: {} };
    case 'tab':
      return state.view === 'jobs' ? { ...state, jobState: nextJobState(state.jobState), row: 0 } : state;
    case 'return':
      return drilledDown(state, Math.min(state.row, last), rows);
    case 'escape':
    case 'backspace':
      return { ...state, ...(state.back.at(-1) ?? FIRST_ROW), back: state.back.slice(0, -1) };
    case 'space':
      return { ...state, isFrozen: !state.isFrozen };
    default: {
      const step = STEPS[key];
      return step === undefined ? state : { ...state, row: Math.max(0, Math.min(last, state.row + step)) };
    }
  }
}

const FIRST_ROW = { view: 'overview', row: 0 } as const;

/** Rows that a key moves by. */
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  pageup: -10,
  pagedown: 10,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

function opened(state: TopState, view: TopView): TopState {
  if (state.view === view) return { ...state, row: 0 };
  const { view: before, row } = state;
  return { ...state, view, row: 0, back: [...state.back, { view: before, row }].slice(-8) };
}

/** An exec to its waiting jobs, a worker to those it runs, a job to all of it. */
function drilledDown(state: TopState, row: number, { jobs, names = [] }: ListedRows): TopState {
  const [job, name] = [jobs[row], names[row]];
  if (state.view === 'jobs' && job !== undefined) return { ...opened(state, 'job'), job };
  if (name === undefined) return state;
  if (state.view === 'execs') return { ...opened(state, 'jobs'), jobState: 'queued', of: { exec: name } };
  return state.view === 'workers'
    ? { ...opened(state, 'jobs'), jobState: 'running', of: { worker: name } }
    : state;
}

function nextJobState(state: JobView['state']): JobView['state'] {
  return JOB_STATES[(JOB_STATES.indexOf(state) + 1) % JOB_STATES.length] ?? 'running';
}
