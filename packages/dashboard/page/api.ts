/** A refused request, as problem+json has it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export interface JobRow {
  readonly id: string;
  readonly exec: string;
  readonly group: string;
  readonly client: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly failures: number;
  readonly crashes: number;
  readonly submittedAt: number;
  readonly dueAt: number;
  readonly endedAt: number;
  readonly worker: string;
  readonly reason: string;
  readonly payloadBytes: number;
  readonly progress?:
    | {
        readonly share?: number | undefined;
        readonly note: string;
        readonly lines: readonly { readonly at: number; readonly text: string }[];
        readonly dropped: number;
      }
    | undefined;
  readonly feed?: { readonly items: number; readonly taken: number; readonly end: string } | undefined;
  readonly failure?: Failure | undefined;
  readonly key?: string | undefined;
  readonly orderKey?: string | undefined;
  readonly priority?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Of one job: those that ended, where one of them failed. */
  readonly attempts?: readonly EndedAttempt[] | undefined;
  readonly startedAt?: number | undefined;
}

export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: Failure;
}

export interface EndedAttempt {
  readonly attempt: number;
  readonly worker: string;
  /** 0: not known. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ending: string;
  readonly failure?: Failure | undefined;
}

export const JOB_STATES = ['queued', 'running', 'done', 'dead', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface WorkerRow {
  readonly worker: string;
  readonly liveness: string;
  readonly quiet?: boolean | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly running: number;
  readonly overrun: number;
  readonly slots: number;
  readonly credit: number;
  readonly cpu: number;
  readonly lagMs: number;
  readonly blockedMs: number;
}

/** The jobs of one name that have not ended. */
export interface ExecDepth {
  readonly exec: string;
  readonly queued: number;
  readonly running: number;
  readonly oldestMs: number;
  readonly queuedByPriority: Readonly<Record<string, number>>;
  /** Jobs that no connected worker may take. */
  readonly unserved?: number | undefined;
}

export interface Overview {
  readonly tag: string;
  readonly lsn: number;
  readonly counts: Readonly<Record<JobState, number>>;
  readonly accepted: number;
  readonly delayed: number;
  readonly diskLow: boolean;
  readonly refusing: readonly { readonly code: string; readonly problem: string }[];
  readonly tables: Readonly<Record<string, { readonly used: number; readonly max: number }>>;
  readonly log: {
    readonly bytes: number;
    readonly replayMs: number;
    readonly cutBytes: number;
    readonly failedSnapshots: number;
    readonly segments?: number | undefined;
    readonly snapshot?: { readonly lsn: number; readonly bytes: number } | undefined;
    readonly freeBytes?: number | undefined;
    readonly commitMs?: { readonly p50: number; readonly p99: number } | undefined;
  };
  readonly execs?: readonly ExecDepth[] | undefined;
  readonly nearQuotas?:
    | readonly {
        readonly identity: string;
        readonly table: string;
        readonly used: number;
        readonly max: number;
      }[]
    | undefined;
  readonly clockStepMs?: number | undefined;
  readonly workers: readonly WorkerRow[];
}

/** Of the session: sent with every change. */
let csrf = '';

export function useCsrf(token: string): void {
  csrf = token;
}

let signedOut: () => void = () => undefined;

/** Called when the session of this page is over: a gateway that was started again knows none. */
export function onSignedOut(callback: () => void): void {
  signedOut = callback;
}

export async function call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const answer = await fetch(path, {
    method,
    headers: { 'x-csrf-token': csrf, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const value = answer.status === 204 ? undefined : ((await answer.json()) as unknown);
  if (answer.ok || isJobEnd(answer.status, value)) return value as T;
  if (answer.status === 401) signedOut();
  const { title = '', detail = answer.statusText } = (value ?? {}) as { title?: string; detail?: string };
  throw new ApiError(answer.status, title, detail);
}

/** Another try may have another answer: the request itself was not refused. */
export function isPassing(error: Error): boolean {
  return !(error instanceof ApiError) || error.status >= 500 || error.status === 429;
}

/** The end of a job without an output is an answer too. */
function isJobEnd(status: number, value: unknown): boolean {
  return (
    (status === 410 || status === 422) && typeof value === 'object' && value !== null && 'state' in value
  );
}
