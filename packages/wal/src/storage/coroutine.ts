// A sequence of storage calls written as a generator. It yields a call and is resumed with the call's result,
// or with its error thrown in. No promise and no clock is involved, so a simulator decides when each call
// completes.

import type { Callback } from './storage.js';

export type Call<T> = (done: Callback<T>) => void;
export type Coroutine<T> = Generator<Call<unknown>, T, unknown>;

/** `const n = yield* call((done) => storage.read(file, into, 0, done))` */
export function* call<T>(start: Call<T>): Coroutine<T> {
  // runCoroutine passes exactly what this call's own `done` was given.
  return (yield start as Call<unknown>) as T;
}

export function runCoroutine<T>(coroutine: Coroutine<T>, done: Callback<T>): void {
  const resume = (error: Error | null, value: unknown): void => {
    let step: IteratorResult<Call<unknown>, T>;
    try {
      step = error === null ? coroutine.next(value) : coroutine.throw(error);
    } catch (thrown) {
      done(thrown instanceof Error ? thrown : new Error(String(thrown)), undefined as never);
      return;
    }
    if (step.done) done(null, step.value);
    else step.value(resume);
  };
  resume(null, undefined);
}

/** The promise of a call, for the promise API. */
export function promiseOf<T>(start: Call<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}

/**
 * Starts a call now and returns a call that completes with its result, so that a coroutine can do other work
 * in between. The result must be awaited.
 */
export function startCall<T>(start: Call<T>): Call<T> {
  let result: { readonly error: Error | null; readonly value: T } | undefined;
  let waiting: Callback<T> | undefined;
  start((error, value) => {
    if (waiting === undefined) result = { error, value };
    else waiting(error, value);
  });
  return (done) => {
    if (result === undefined) waiting = done;
    else done(result.error, result.value);
  };
}
