import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.js';

/** An answer of the API that is looked at again. */
export interface Looked<T> {
  /** Undefined before the first answer. */
  readonly value: T | undefined;
  readonly problem: string;
  /** Looks now. */
  readonly again: () => void;
  /** Makes a change, then looks again. */
  readonly change: (method: 'POST' | 'DELETE', path: string, body?: unknown) => void;
}

/** `everyMs` 0: only once, and after changes. */
export function useLook<T>(path: string, everyMs = 0): Looked<T> {
  const [value, setValue] = useState<T | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [looks, setLooks] = useState(0);
  // The answer to another question is not shown for this one.
  useEffect(() => setValue(undefined), [path]);
  // A change of `looks` asks for another look.
  useEffect(() => {
    let isCurrent = true;
    const look = (): void => {
      call<T>('GET', path).then(
        (answer) => {
          if (!isCurrent) return;
          setValue(answer);
          setProblem('');
        },
        (error: Error) => {
          if (isCurrent) setProblem(error.message);
        },
      );
    };
    look();
    const timer = everyMs === 0 ? undefined : setInterval(look, everyMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [path, everyMs, looks]);
  const again = (): void => setLooks((before) => before + 1);
  const change: Looked<T>['change'] = (method, target, body) => {
    call(method, target, body).then(again, (error: Error) => setProblem(error.message));
  };
  return { value, problem, again, change };
}
