import type { EndedAttempt, JobFailure, JobView } from '@troupe/jobs';

/** A job as the command prints it with --json: the public id, times as text. */
export interface ShownJob {
  readonly id: string;
  readonly exec: string;
  readonly group: string;
  readonly client: string;
  readonly state: JobView['state'];
  readonly attempt: number;
  readonly failures: number;
  readonly crashes: number;
  /** Its idempotency key. */
  readonly key: string | null;
  /** Null where it has none, and once the job is done or cancelled. */
  readonly orderKey: string | null;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly submittedAt: string;
  readonly dueAt: string | null;
  /** When its running attempt was assigned; null in lists. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly worker: string | null;
  readonly reason: string | null;
  readonly failure: JobView['failure'] | null;
  /** Null once the job is done or cancelled: its payload is no longer kept. */
  readonly payloadBytes: number | null;
  /** Liveness of the worker that runs the job; null while none does. */
  readonly liveness: WorkerLiveness | null;
  /** How long the event loop of that worker has been blocked; 0 unless it is. */
  readonly blockedMs: number;
  /** The warm runner that it waits for; null where it waits for none. */
  readonly waitsForRunner: string | null;
  /** By its handler; null where it has said nothing. */
  readonly progress: JobView['progress'] | null;
  /** Null of a job that was not fed. */
  readonly feed: JobView['feed'] | null;
  /** Ended attempts, oldest first, where one of them failed; null where none did, and in lists. */
  readonly attempts: readonly ShownAttempt[] | null;
}

/** Of a job that names none. */
const DEFAULT_PRIORITY = 4;

interface ShownAttempt extends Omit<EndedAttempt, 'startedAt' | 'endedAt'> {
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

type WorkerLiveness = NonNullable<JobView['liveness']>;

/** `blocked for 12 s` */
export function stateText(liveness: WorkerLiveness, blockedMs: number): string {
  return liveness === 'blocked' ? `blocked for ${Math.round(blockedMs / 1_000)} s` : liveness;
}

export function shownJob(id: string, view: JobView): ShownJob {
  const { exec, group, client, state, attempt, failures, crashes } = view;
  const isKept = state !== 'done' && state !== 'cancelled';
  return {
    id,
    exec,
    group,
    client,
    state,
    attempt,
    failures,
    crashes,
    key: view.key ?? null,
    orderKey: view.orderKey ?? null,
    priority: view.priority ?? DEFAULT_PRIORITY,
    tags: view.tags ?? [],
    submittedAt: new Date(view.submittedAt).toISOString(),
    dueAt: timeOrNull(view.dueAt),
    startedAt: timeOrNull(view.startedAt ?? 0),
    endedAt: timeOrNull(view.endedAt),
    worker: view.worker === '' ? null : view.worker,
    reason: view.reason === '' ? null : view.reason,
    failure: view.failure ?? null,
    payloadBytes: isKept ? view.payloadBytes : null,
    liveness: view.liveness ?? null,
    blockedMs: Math.round(view.blockedMs ?? 0),
    waitsForRunner: view.waitsForRunner ?? null,
    progress: view.progress ?? null,
    feed: view.feed ?? null,
    attempts: view.attempts?.map(shownAttempt) ?? null,
  };
}

export function jobLines(job: ShownJob): string[] {
  const rows: [string, string | null][] = [
    ['id', job.id],
    ['exec', job.exec],
    ['state', job.state],
    ['reason', job.reason],
    ['waits for', job.waitsForRunner === null ? null : `runner ${job.waitsForRunner}`],
    ['client', job.client],
    ['key', job.key],
    ['order key', job.orderKey],
    ['priority', job.priority === DEFAULT_PRIORITY ? null : String(job.priority)],
    ['tags', job.tags.length === 0 ? null : job.tags.join(' ')],
    ['attempt', `${job.attempt} (${job.failures} failed, ${job.crashes} crashed)`],
    ['submitted', job.submittedAt],
    ['due', job.dueAt],
    ['started', job.startedAt],
    ['ended', job.endedAt],
    [
      'worker',
      job.liveness === null ? job.worker : `${job.worker} (${stateText(job.liveness, job.blockedMs)})`,
    ],
    [
      'failure',
      job.failure === null || job.failure === undefined
        ? null
        : `${job.failure.name}: ${job.failure.message}`,
    ],
    ['stack', job.failure?.stack === undefined ? null : stackText(job.failure)],
    ['payload', job.payloadBytes === null ? null : `${job.payloadBytes} bytes`],
    ...(job.attempts ?? []).map((one): [string, string] => ['attempt', attemptText(one)]),
    ['progress', progressText(job)],
    ['feed', feedText(job)],
    ...logRows(job),
  ];
  return rows.filter(([, value]) => value !== null).map(([name, value]) => `${name.padEnd(10)} ${value}`);
}

function shownAttempt(ended: EndedAttempt): ShownAttempt {
  return { ...ended, startedAt: timeOrNull(ended.startedAt), endedAt: timeOrNull(ended.endedAt) };
}

/** `2 timed-out 2026-11-18T10:00:00.000Z after 120 ms on w~1: TimeoutError: …; caused by Error: …` */
function attemptText({ attempt, ending, startedAt, endedAt, worker, failure }: ShownAttempt): string {
  const ms = startedAt === null || endedAt === null ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
  const took = ms === undefined ? '' : ` after ${ms} ms`;
  const where = worker === '' ? '' : ` on ${worker}`;
  return `${attempt} ${ending} ${endedAt ?? ''}${took}${where}${failure === undefined ? '' : `: ${failureText(failure)}`}`;
}

function failureText({ name, message, cause }: JobFailure): string {
  const own = `${name}: ${message}`;
  return cause === undefined ? own : `${own}; caused by ${failureText(cause)}`;
}

/** `40 % page 12`, with its attempt where that is not the latest. */
function progressText({ progress, attempt }: ShownJob): string | null {
  if (progress?.share === undefined) return null;
  const ofEarlier = progress.attempt === attempt ? '' : ` (attempt ${progress.attempt})`;
  return `${Math.round(progress.share * 100)} % ${progress.note}`.trimEnd() + ofEarlier;
}

/** `12 items, 3 taken, final`: it has ended. */
function feedText({ feed }: ShownJob): string | null {
  if (feed === null || feed === undefined) return null;
  return `${feed.items} items, ${feed.taken} taken, ${feed.end === '' ? 'open' : feed.end}`;
}

function logRows({ progress }: ShownJob): [string, string][] {
  if (progress === null || progress === undefined) return [];
  const { lines, dropped } = progress;
  const rows = lines.map(({ at, text }): [string, string] => [
    'log',
    `${new Date(at).toISOString()} ${text}`,
  ]);
  return dropped === 0 ? rows : [['log', `${dropped} earlier lines are not kept`], ...rows];
}

/** The frames of a failure and of its causes, on one line: a text of another process. */
function stackText({ stack = '', cause }: NonNullable<JobView['failure']>): string {
  const frames = stack.split('\n').filter((line) => /^\s*at /.test(line));
  const own = frames.map((line) => line.trim()).join(' ');
  return cause === undefined ? own : `${own} caused by ${cause.name}: ${cause.message} ${stackText(cause)}`;
}

function timeOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
