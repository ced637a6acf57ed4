import { useEffect, useState } from 'preact/hooks';
import { ApiError, call, isPassing } from '../api.js';
import { liveConnection } from '../live-connection.js';
import { useVisible } from './use-visible.js';

/** An answer of the API. */
export interface Looked<T> {
  /** Undefined before the first answer. */
  readonly value: T | undefined;
  /** Of the last change, else of the last look. */
  readonly problem: string;
  /** The HTTP status of the problem; 0: none. */
  readonly status: number;
  /** Looks now, where the answer is not followed. */
  readonly again: () => void;
  /** Makes a change, then looks again. */
  readonly change: (method: 'POST' | 'DELETE', path: string, body?: unknown) => void;
}

interface Look<T> {
  readonly path: string;
  readonly value: T | undefined;
  readonly problem: Error | undefined;
}

type SetLook<T> = (next: (before: Look<T> | undefined) => Look<T>) => void;

const RETRY_MS = 2_000;

/** Looks once, after changes, and until there is an answer. A page in the background does not look. */
export function useLook<T>(path: string): Looked<T> {
  const [looks, setLooks] = useState(0);
  // A change of `looks` asks for another look.
  return useAnswer<T>(path, lookOnce, looks, () => setLooks((before) => before + 1));
}

/** The answer as it changes, over the connection of the page. */
export function useFollowed<T>(path: string): Looked<T> {
  return useAnswer<T>(path, follow, 0, () => undefined);
}

function useAnswer<T>(
  path: string,
  begin: (path: string, setLook: SetLook<T>) => () => void,
  looks: number,
  again: () => void,
): Looked<T> {
  const [look, setLook] = useState<Look<T> | undefined>(undefined);
  const [refused, setRefused] = useState<{ readonly path: string; readonly error: Error } | undefined>(
    undefined,
  );
  const isVisible = useVisible();
  useEffect(() => (isVisible ? begin(path, setLook) : undefined), [path, begin, looks, isVisible]);
  const change: Looked<T>['change'] = (method, target, body) => {
    call(method, target, body).then(
      () => {
        setRefused(undefined);
        again();
      },
      (error: Error) => setRefused({ path, error }),
    );
  };
  const problem = refused?.path === path ? refused.error : look?.path === path ? look.problem : undefined;
  const status = problem instanceof ApiError ? problem.status : 0;
  return { value: valueAt(path, look), problem: problem?.message ?? '', status, again, change };
}

function lookOnce<T>(path: string, setLook: SetLook<T>): () => void {
  let isCurrent = true;
  let timer: number | undefined;
  const see = (): void => {
    call<T>('GET', path).then(
      (value) => {
        if (isCurrent) setLook(() => ({ path, value, problem: undefined }));
      },
      (problem: Error) => {
        if (!isCurrent) return;
        setLook((before) => ({ path, value: valueAt(path, before), problem }));
        if (isPassing(problem)) timer = setTimeout(see, RETRY_MS);
      },
    );
  };
  see();
  return () => {
    isCurrent = false;
    clearTimeout(timer);
  };
}

function follow<T>(path: string, setLook: SetLook<T>): () => void {
  return liveConnection.followLook(path, {
    onValue: (value) => setLook(() => ({ path, value: value as T, problem: undefined })),
    onProblem: (problem) => setLook((before) => ({ path, value: valueAt(path, before), problem })),
  });
}

/** The answer to another question is not shown for this one. */
function valueAt<T>(path: string, look: Look<T> | undefined): T | undefined {
  return look?.path === path ? look.value : undefined;
}
