import { useEffect, useState } from 'preact/hooks';
import { ApiError, call, isPassing } from '../api.js';
import { useVisible } from './use-visible.js';

/** An answer of the API that is looked at again. */
export interface Looked<T> {
  /** Undefined before the first answer. */
  readonly value: T | undefined;
  /** Of the last change, else of the last look. */
  readonly problem: string;
  /** The HTTP status of the problem; 0: none. */
  readonly status: number;
  /** Looks now. */
  readonly again: () => void;
  /** Makes a change, then looks again. */
  readonly change: (method: 'POST' | 'DELETE', path: string, body?: unknown) => void;
}

interface Look<T> {
  readonly path: string;
  readonly value: T | undefined;
  readonly problem: Error | undefined;
}

const RETRY_MS = 2_000;

/** `everyMs` 0: only once, after changes, and until there is an answer. A page in the background does not look. */
export function useLook<T>(path: string, everyMs = 0): Looked<T> {
  const [look, setLook] = useState<Look<T> | undefined>(undefined);
  const [refused, setRefused] = useState<{ readonly path: string; readonly error: Error } | undefined>(
    undefined,
  );
  const [looks, setLooks] = useState(0);
  const isVisible = useVisible();
  // A change of `looks` asks for another look.
  useEffect(() => {
    if (!isVisible) return undefined;
    let isCurrent = true;
    let timer: number | undefined;
    // The next look begins after the answer: answers neither overtake each other nor pile up.
    const next = (waitMs: number): void => {
      if (waitMs > 0) timer = setTimeout(see, waitMs);
    };
    const see = (): void => {
      call<T>('GET', path).then(
        (value) => {
          if (!isCurrent) return;
          setLook({ path, value, problem: undefined });
          next(everyMs);
        },
        (problem: Error) => {
          if (!isCurrent) return;
          setLook((before) => ({ path, value: valueAt(path, before), problem }));
          next(everyMs === 0 && isPassing(problem) ? RETRY_MS : everyMs);
        },
      );
    };
    see();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [path, everyMs, looks, isVisible]);
  const again = (): void => setLooks((before) => before + 1);
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

/** The answer to another question is not shown for this one. */
function valueAt<T>(path: string, look: Look<T> | undefined): T | undefined {
  return look?.path === path ? look.value : undefined;
}
