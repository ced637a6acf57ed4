import { defineJob, handle } from '@troupe/jobs';
import { aNumber, anything } from '../plain-schema.js';

/** Gives back what it got. */
export const Echo = defineJob('trial.echo', { input: anything, output: anything });
/** Takes so many milliseconds. */
export const Nap = defineJob('trial.nap', { input: aNumber, output: anything, retry: { baseMs: 10 } });
/** Runs until its signal says otherwise. */
export const Endless = defineJob('trial.endless', { input: anything, output: anything });
/** Its first attempt never ends; the others do at once. */
export const Second = defineJob('trial.second', { input: anything, output: anything });
/** Fails, and is not tried again often. */
export const Fail = defineJob('trial.fail', {
  input: anything,
  output: anything,
  retry: { attempts: 2, baseMs: 1, capMs: 1 },
});

/** Its first attempt holds the event loop for so many milliseconds; the others return at once. */
export const Spin = defineJob('trial.spin', {
  input: aNumber,
  output: anything,
  leaseMs: 2_000,
  retry: { baseMs: 10 },
});
/** The same, with a lease that does not end during a test. */
export const LongSpin = defineJob('trial.long-spin', { input: aNumber, output: anything });
/** The same, with three seconds to run. */
export const BriefSpin = defineJob('trial.brief-spin', {
  input: aNumber,
  output: anything,
  leaseMs: 2_000,
  limits: { runMs: 3_000 },
  retry: { baseMs: 10 },
});

export function trialHandlers(name: string, started: (exec: string, input: unknown) => void) {
  const spin = (exec: string, ms: number, attempt: number): string => {
    started(exec, ms);
    const until = performance.now() + (attempt === 1 ? ms : 0);
    while (performance.now() < until);
    return name;
  };
  return [
    handle(Spin, (ms, { attempt }) => spin('spin', ms, attempt)),
    handle(LongSpin, (ms, { attempt }) => spin('long-spin', ms, attempt)),
    handle(BriefSpin, (ms, { attempt }) => spin('brief-spin', ms, attempt)),
    handle(Echo, (input) => {
      started('echo', input);
      return input;
    }),
    handle(Nap, async (ms, { signal }) => {
      started('nap', ms);
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason as Error);
        });
      });
      return name;
    }),
    handle(Endless, (input, { signal }) => {
      started('endless', input);
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    }),
    handle(Second, (input, { attempt }) => {
      started('second', input);
      return attempt === 1 ? new Promise(() => undefined) : name;
    }),
    handle(Fail, () => {
      throw new RangeError('it never works');
    }),
  ];
}
